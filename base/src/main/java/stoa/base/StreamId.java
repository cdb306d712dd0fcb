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
  // To copy one costs less than to look the algorithm up.
  private static final MessageDigest UNUSED;

  static {
    try {
      UNUSED = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /// Returns the id of a name.
  ///
  /// @throws IllegalArgumentException when it contains half of a surrogate pair
  public static StreamId of(String name) {
    return of(Texts.utf8(name));
  }

  /// Returns the id of an encoded name.
  public static StreamId of(byte[] name) {
    byte[] digest = sha256().digest(name);
    return new StreamId(Bytes.getLong(digest, 0), Bytes.getLong(digest, 8));
  }

  private static MessageDigest sha256() {
    try {
      return (MessageDigest) UNUSED.clone();
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException("this Java platform's SHA-256 cannot be copied", e);
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
