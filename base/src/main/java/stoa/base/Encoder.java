package stoa.base;

import java.util.Arrays;

/// A growing byte array with the elementary encodings of all formats. One thread uses it, and may
/// reuse it.
///
/// Numbers are written as `varint`: seven bits a byte, low bits first, the high bit set on all but
/// the last.
public final class Encoder {
  private byte[] bytes;
  private int size;

  /// Creates an empty encoder with room for some bytes.
  public Encoder(int capacity) {
    bytes = new byte[Math.max(16, capacity)];
  }

  /// Empties this encoder and keeps its room.
  public Encoder clear() {
    size = 0;
    return this;
  }

  /// Returns the number of bytes.
  public int size() {
    return size;
  }

  /// Returns the array of this encoder, of which the first [#size()] bytes are valid until the next
  /// write.
  public byte[] array() {
    return bytes;
  }

  /// Returns a copy of the bytes.
  public byte[] toBytes() {
    return Arrays.copyOf(bytes, size);
  }

  /// Returns a copy of the bytes, followed by others. It copies the others once, so prefer it to
  /// [#raw(byte\[\])] and [#toBytes()] where they are many.
  public byte[] followedBy(byte[] others) {
    byte[] whole = Arrays.copyOf(bytes, size + others.length);
    System.arraycopy(others, 0, whole, size, others.length);
    return whole;
  }

  /// Writes the lowest eight bits.
  public Encoder u8(int value) {
    room(1);
    bytes[size++] = (byte) value;
    return this;
  }

  /// Writes an unsigned number in one to ten bytes.
  public Encoder varint(long value) {
    room(10);
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      bytes[size++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[size++] = (byte) rest;
    return this;
  }

  /// Writes a number in eight bytes, big-endian.
  public Encoder i64(long value) {
    room(8);
    Bytes.putLong(bytes, size, value);
    size += 8;
    return this;
  }

  /// Writes bytes without their length.
  public Encoder raw(byte[] source, int from, int length) {
    room(length);
    System.arraycopy(source, from, bytes, size, length);
    size += length;
    return this;
  }

  /// Writes bytes without their length.
  public Encoder raw(byte[] source) {
    return raw(source, 0, source.length);
  }

  /// Writes bytes after their length.
  public Encoder sized(byte[] source) {
    return varint(source.length).raw(source);
  }

  /// Writes a name, or other text that must read back as it is, in UTF-8 after its length in bytes.
  ///
  /// @throws IllegalArgumentException when it contains half of a surrogate pair
  public Encoder text(String value) {
    return sized(Texts.utf8(value));
  }

  /// Writes a message for people, as [#text], which may lose what UTF-8 cannot encode.
  public Encoder message(String value) {
    return text(Texts.message(value));
  }

  /// Writes an id in sixteen bytes.
  public Encoder id(StreamId id) {
    return i64(id.high()).i64(id.low());
  }

  private void room(int more) {
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
    }
  }
}
