package stoa.store.calls;

import org.jspecify.annotations.Nullable;

/// A value for a key, and what the key's handler reads it as.
///
/// @param value what is logged
/// @param read what the value was read as before it is logged, for the first run of the handler;
///   null when the handler reads the value itself. The caller keeps no reference to it
public record Put(byte[] value, @Nullable Object read) {
  /// A value that its handler reads itself.
  public static Put of(byte[] value) {
    return new Put(value, null);
  }

  /// Its bytes are not compared.
  @Override
  public String toString() {
    return "a put of " + value.length + " bytes";
  }
}
