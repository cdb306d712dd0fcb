package stoa.store.calls;

import org.jspecify.annotations.Nullable;

/// A value for a key, and the decoded form of the value.
///
/// @param value the bytes that the store logs
/// @param read the decoded value, from before the put was logged, for the first run of the handler;
///   null when the handler decodes the value itself. The caller keeps no reference to it
public record Put(byte[] value, @Nullable Object read) {
  /// Returns a value that its handler decodes itself.
  public static Put of(byte[] value) {
    return new Put(value, null);
  }

  /// Describes the put by its length.
  @Override
  public String toString() {
    return "a put of " + value.length + " bytes";
  }
}
