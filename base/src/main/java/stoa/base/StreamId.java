package stoa.base;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/// The 128-bit identity of a stream, and of the storage object that holds it.
///
/// Ordered as an unsigned number. [#of(String)] makes an id from a readable name: the first sixteen
/// bytes of the name's SHA-256.
///
/// @param high the upper 64 bits
/// @param low the lower 64 bits
public record StreamId(long high, long low) implements Comparable<StreamId> {

  /// Returns the id of a name.
  ///
  /// @throws IllegalArgumentException when it contains half of a surrogate pair
  public static StreamId of(String name) {
    return of(Texts.utf8(name));
  }

  /// Returns the id of an encoded name.
  public static StreamId of(byte[] name) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(name);
      return new StreamId(Bytes.getLong(digest, 0), Bytes.getLong(digest, 8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  @Override
  public int compareTo(StreamId other) {
    int byHigh = Long.compareUnsigned(high, other.high);
    return byHigh != 0 ? byHigh : Long.compareUnsigned(low, other.low);
  }

  @Override
  public int hashCode() {
    return Long.hashCode(low ^ high);
  }

  @Override
  public String toString() {
    return "%016x%016x".formatted(high, low);
  }
}
