package stoa.store.calls;

import org.jspecify.annotations.Nullable;
import stoa.base.Footprint;

/// A value for a key, and the decoded form of the value.
///
/// @param value the bytes that the store logs
/// @param read the decoded value, from before the put was logged, for the first run of the handler;
///   null when the handler decodes the value itself. The caller keeps no reference to it
/// @param footprint the part of the key's state on which the put works
public record Put(byte[] value, @Nullable Object read, Footprint footprint) {
  /// Creates a put that works on the whole state.
  public Put(byte[] value, @Nullable Object read) {
    this(value, read, Footprint.ALL);
  }

  /// Returns a value that its handler decodes itself.
  public static Put of(byte[] value) {
    return new Put(value, null);
  }

  /// Returns the same put, which works on a part of the state.
  public Put on(Footprint part) {
    return part.isAll() ? this : new Put(value, read, part);
  }

  /// Describes the put by its length.
  @Override
  public String toString() {
    return "a put of " + value.length + " bytes";
  }
}
