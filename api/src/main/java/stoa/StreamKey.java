package stoa;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// The 128-bit identity of a stream.
///
/// The standard hash makes it from a readable name: the first sixteen bytes of the SHA-256 digest
/// of the name in UTF-8, without a length or a terminator. The first eight bytes, as a big-endian
/// number, are `high`; the others are `low`. The key of the name `logins` is
/// `4b2e43ecdce1491a2a7750590730076c`, the beginning of the output of `printf logins | sha256sum`.
///
/// Ordered as an unsigned number of 128 bits. A program that makes keys in another way must make
/// sure that they differ from each other and from those of objects, as hashes do.
///
/// @param high the upper 64 bits
/// @param low the lower 64 bits
public record StreamKey(long high, long low) implements Comparable<StreamKey> {
  private static final String RESERVED = "stoa/";

  /// Returns the key of a name, by the standard hash.
  ///
  /// @throws IllegalArgumentException when the name is empty, contains half of a surrogate pair, or
  ///   begins with `stoa/`: those names are the store's own
  public static StreamKey of(String name) {
    if (name.isEmpty()) throw new IllegalArgumentException("the name of a stream is empty");
    if (name.startsWith(RESERVED)) {
      throw new IllegalArgumentException(
          "\""
              + name
              + "\" begins with "
              + RESERVED
              + ", as the store's own streams do; choose"
              + " another name");
    }
    return first(sha256(utf8(name)));
  }

  private static byte[] utf8(String name) {
    try {
      var bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(name));
      byte[] encoded = new byte[bytes.remaining()];
      bytes.get(encoded);
      return encoded;
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(
          "the name of the stream \""
              + name
              + "\" holds half of a surrogate pair; use well-formed text",
          e);
    }
  }

  /// Returns the key that [#toString] writes.
  ///
  /// @param hexadecimal 32 hexadecimal digits
  /// @throws IllegalArgumentException when the text is something else
  public static StreamKey parse(String hexadecimal) {
    if (hexadecimal.length() != 32) {
      throw new IllegalArgumentException(
          "\"" + hexadecimal + "\" is not a stream key of 32 hexadecimal digits");
    }
    return first(HexFormat.of().parseHex(hexadecimal));
  }

  private static StreamKey first(byte[] bytes) {
    var in = java.nio.ByteBuffer.wrap(bytes);
    return new StreamKey(in.getLong(), in.getLong());
  }

  private static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  @Override
  public int compareTo(StreamKey other) {
    int byHigh = Long.compareUnsigned(high, other.high);
    return byHigh != 0 ? byHigh : Long.compareUnsigned(low, other.low);
  }

  @Override
  public String toString() {
    return "%016x%016x".formatted(high, low);
  }
}
