package stoa.front.marshal;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;

/// The direct encoding of simple values: numbers, text and UUIDs, which most arguments are.
final class Simple {
  private Simple() {}

  /// Returns whether this encoding covers a declared type.
  static boolean covers(Class<?> type) {
    return type == String.class
        || type.isPrimitive()
        || type == Long.class
        || type == Integer.class
        || type == UUID.class
        || type == Boolean.class
        || type == Double.class
        || type == Float.class
        || type == Short.class
        || type == Byte.class
        || type == Character.class;
  }

  // The covered types in the order of their numbers in described arguments, which never change.
  private static final List<Class<?>> TYPES =
      List.of(
          String.class,
          UUID.class,
          boolean.class,
          Boolean.class,
          byte.class,
          Byte.class,
          short.class,
          Short.class,
          char.class,
          Character.class,
          int.class,
          Integer.class,
          long.class,
          Long.class,
          float.class,
          Float.class,
          double.class,
          Double.class);

  /// Returns the number of a covered type; -1 for any other.
  static int number(Class<?> type) {
    return TYPES.indexOf(type);
  }

  /// Returns the type of a number.
  static Class<?> type(int number) {
    if (number >= 0 && number < TYPES.size()) return TYPES.get(number);
    throw new Corrupt("an argument is of the simple type " + number + ", which is none");
  }

  /// Returns the covered type with a name; null for any other.
  static @Nullable Class<?> named(String name) {
    for (Class<?> type : TYPES) {
      if (type.getTypeName().equals(name)) return type;
    }
    return null;
  }

  /// Writes a value of a declared type that is covered.
  static void write(Output out, Class<?> type, @Nullable Object value) {
    if (type == String.class) {
      out.text((String) value);
      return;
    }
    if (!type.isPrimitive()) {
      out.put(value == null ? 0 : 1);
      if (value == null) return;
    }
    switch (value) {
      case null -> throw new NullPointerException("null for a parameter of type " + type);
      case Long v -> out.number(v);
      case Integer v -> out.number(v);
      case Boolean v -> out.put(v ? 1 : 0);
      case Double v -> out.fixed(Double.doubleToRawLongBits(v));
      case Float v -> out.number(Float.floatToRawIntBits(v));
      case Short v -> out.number(v);
      case Byte v -> out.put(v);
      case Character v -> out.number(v);
      case UUID v -> {
        out.fixed(v.getMostSignificantBits());
        out.fixed(v.getLeastSignificantBits());
      }
      default -> throw new ClassCastException(value.getClass() + " is not simple");
    }
  }

  /// Reads a value of a declared type that is covered.
  static @Nullable Object read(Input in, Class<?> type) {
    if (type == String.class) return in.text();
    if (!type.isPrimitive() && in.get() == 0) return null;
    if (type == long.class || type == Long.class) return in.number();
    if (type == int.class || type == Integer.class) return (int) in.number();
    if (type == boolean.class || type == Boolean.class) return in.get() != 0;
    if (type == double.class || type == Double.class) return Double.longBitsToDouble(in.fixed());
    if (type == UUID.class) return new UUID(in.fixed(), in.fixed());
    if (type == float.class || type == Float.class) return Float.intBitsToFloat((int) in.number());
    if (type == short.class || type == Short.class) return (short) in.number();
    if (type == byte.class || type == Byte.class) return in.get();
    if (type == char.class || type == Character.class) return (char) in.number();
    throw new IllegalStateException(type + " is not simple");
  }

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  /// A growing array of bytes.
  static final class Output {
    private byte[] bytes = new byte[48];
    private int length;

    void put(int value) {
      if (length == bytes.length) grow(1);
      bytes[length++] = (byte) value;
    }

    /// Zigzag, then unsigned LEB128.
    void number(long value) {
      if (bytes.length - length < 10) grow(10);
      long rest = (value << 1) ^ (value >> 63);
      while ((rest & ~0x7FL) != 0) {
        bytes[length++] = (byte) (rest | 0x80);
        rest >>>= 7;
      }
      bytes[length++] = (byte) rest;
    }

    void fixed(long value) {
      if (bytes.length - length < 8) grow(8);
      LONG.set(bytes, length, value);
      length += 8;
    }

    /// -1 for null; `2n` and n bytes of UTF-8; `2n + 1` and n chars of UTF-16 for text with
    /// surrogates, which may be unpaired.
    void text(@Nullable String text) {
      if (text == null) {
        number(-1);
        return;
      }
      if (hasSurrogates(text)) {
        number(2L * text.length() + 1);
        grow(2 * text.length());
        for (int i = 0; i < text.length(); i++) {
          bytes[length++] = (byte) (text.charAt(i) >> 8);
          bytes[length++] = (byte) text.charAt(i);
        }
        return;
      }
      byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
      number(2L * encoded.length);
      if (bytes.length - length < encoded.length) grow(encoded.length);
      System.arraycopy(encoded, 0, bytes, length, encoded.length);
      length += encoded.length;
    }

    private static boolean hasSurrogates(String text) {
      for (int i = 0; i < text.length(); i++) {
        if (Character.isSurrogate(text.charAt(i))) return true;
      }
      return false;
    }

    private void grow(int more) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + more));
    }

    void raw(byte[] more, int from, int count) {
      if (bytes.length - length < count) grow(count);
      System.arraycopy(more, from, bytes, length, count);
      length += count;
    }

    int length() {
      return length;
    }

    byte[] array() {
      return bytes;
    }

    byte[] toBytes() {
      return Arrays.copyOf(bytes, length);
    }
  }

  /// A part of an array of bytes, read from its start.
  static final class Input {
    private final byte[] bytes;
    private final int to;
    private int at;

    Input(byte[] bytes, int from, int to) {
      this.bytes = bytes;
      this.at = from;
      this.to = to;
    }

    int at() {
      return at;
    }

    byte get() {
      if (at >= to) throw new Corrupt("an encoded value ends too early, at byte " + at);
      return bytes[at++];
    }

    long number() {
      long value = 0;
      for (int shift = 0; shift < 70; shift += 7) {
        byte next = get();
        value |= (long) (next & 0x7F) << shift;
        if (next >= 0) return (value >>> 1) ^ -(value & 1);
      }
      throw new Corrupt("an encoded number does not end, at byte " + at);
    }

    long fixed() {
      need(8);
      long value = (long) LONG.get(bytes, at);
      at += 8;
      return value;
    }

    @Nullable String text() {
      long head = number();
      if (head == -1) return null;
      if (head < 0) throw new Corrupt("a text of length " + head + ", at byte " + at);
      if ((head & 1) == 1) return wide(head >> 1);
      int length = need(head >> 1);
      String text = new String(bytes, at, length, StandardCharsets.UTF_8);
      at += length;
      return text;
    }

    private String wide(long count) {
      int length = need(Math.min(count, Integer.MAX_VALUE / 4) * 2) / 2;
      char[] chars = new char[length];
      for (int i = 0; i < length; i++, at += 2) {
        chars[i] = (char) ((bytes[at] & 0xFF) << 8 | (bytes[at + 1] & 0xFF));
      }
      return new String(chars);
    }

    /// Skips bytes that another reader reads.
    void skip(long count) {
      at += need(count);
    }

    int left() {
      return to - at;
    }

    private int need(long length) {
      if (length < 0 || length > to - at)
        throw new Corrupt("an encoded value ends too early, at byte " + to);
      return (int) length;
    }

    void end() {
      if (at != to) throw new Corrupt("an encoded value has " + (to - at) + " bytes too many");
    }
  }
}
