package stoa.storage.segment;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// Numbers in byte arrays: big-endian fixed width, and variable-length ones of seven bits a byte,
/// low bits first.
public final class EncodedNumbers {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

  private EncodedNumbers() {}

  /// Reads eight bytes.
  public static long getLong(byte[] bytes, int at) {
    return (long) LONG.get(bytes, at);
  }

  /// Writes eight bytes.
  public static void putLong(byte[] bytes, int at, long value) {
    LONG.set(bytes, at, value);
  }

  /// Reads four bytes.
  public static int getInt(byte[] bytes, int at) {
    return (int) INT.get(bytes, at);
  }

  /// Writes four bytes.
  public static void putInt(byte[] bytes, int at, int value) {
    INT.set(bytes, at, value);
  }

  /// Reads two bytes.
  public static int getShort(byte[] bytes, int at) {
    return ((bytes[at] & 0xff) << 8) | (bytes[at + 1] & 0xff);
  }

  /// Writes two bytes.
  public static void putShort(byte[] bytes, int at, int value) {
    bytes[at] = (byte) (value >>> 8);
    bytes[at + 1] = (byte) value;
  }

  /// Writes a number and returns the position after it.
  public static int putVarint(byte[] bytes, int at, long value) {
    int p = at;
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      bytes[p++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[p++] = (byte) rest;
    return p;
  }

  /// Returns the number at a position.
  public static long getVarint(byte[] bytes, int at) {
    int p = at;
    long value = 0;
    for (int shift = 0; ; shift += 7) {
      long next = bytes[p++];
      value |= (next & 0x7f) << shift;
      if (next >= 0) return value;
    }
  }

  /// Maps numbers near zero, of either sign, to small unsigned ones.
  public static long zigzag(long value) {
    return (value << 1) ^ (value >> 63);
  }

  /// Returns the number of a zigzag encoding.
  public static long unzigzag(long value) {
    return (value >>> 1) ^ -(value & 1);
  }
}
