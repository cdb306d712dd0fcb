package stoa.base;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Reads what an [Encoder] wrote. One thread uses it.
///
/// Reading past the end, or an impossible length, throws [MalformedException]. The caller knows the
/// origin of the bytes and reports it.
public final class Decoder {
  /// The bytes at this position are not as expected.
  public static final class MalformedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /// Creates the exception for a reader that finds invalid contents.
    public MalformedException(String message) {
      super(message);
    }
  }

  private final byte[] bytes;
  private final int end;
  private int position;

  /// Creates a reader of the whole array.
  public Decoder(byte[] bytes) {
    this(bytes, 0, bytes.length);
  }

  /// Creates a reader of the bytes from `from` to `end`, exclusive.
  public Decoder(byte[] bytes, int from, int end) {
    this.bytes = bytes;
    this.position = from;
    this.end = end;
  }

  /// Returns the array under the reader.
  public byte[] array() {
    return bytes;
  }

  /// Returns the index in the array of the next byte.
  public int position() {
    return position;
  }

  /// Returns the index in the array after the last byte.
  public int end() {
    return end;
  }

  /// Returns the number of remaining bytes.
  public int remaining() {
    return end - position;
  }

  /// Reads one byte as an unsigned number.
  public int u8() {
    need(1);
    return bytes[position++] & 0xFF;
  }

  /// Reads an unsigned number.
  public long varint() {
    long value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      int next = u8();
      value |= (long) (next & 0x7F) << shift;
      if (next < 0x80) return value;
    }
    throw new MalformedException("a number longer than ten bytes at " + position);
  }

  /// Reads a length or count, which must fit the remaining bytes.
  public int count() {
    long value = varint();
    if (value < 0 || value > remaining()) {
      throw new MalformedException(
          "a length of " + value + " at " + position + " where " + remaining() + " bytes are left");
    }
    return (int) value;
  }

  /// Reads a number of eight bytes.
  public long i64() {
    need(8);
    long value = Bytes.getLong(bytes, position);
    position += 8;
    return value;
  }

  /// Reads bytes written by [Encoder#sized].
  public byte[] sized() {
    return raw(count());
  }

  /// Reads `length` bytes.
  public byte[] raw(int length) {
    need(length);
    position += length;
    return Arrays.copyOfRange(bytes, position - length, position);
  }

  /// Skips `length` bytes.
  public void skip(int length) {
    need(length);
    position += length;
  }

  /// Reads a string written by [Encoder#text].
  public String text() {
    int length = count();
    position += length;
    return new String(bytes, position - length, length, StandardCharsets.UTF_8);
  }

  /// Reads an id written by [Encoder#id].
  public StreamId id() {
    return new StreamId(i64(), i64());
  }

  private void need(int length) {
    if (length < 0 || remaining() < length) {
      throw new MalformedException(
          length + " bytes wanted at " + position + " where " + remaining() + " are left");
    }
  }
}
