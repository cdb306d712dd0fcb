package stoa.front.types;

import java.io.ByteArrayOutputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.LimitExceeded;
import stoa.NotShareable;

/// The keys of shared objects, and their encoding.
///
/// A key is a `String`, `Long`, `Integer`, [UUID], an enum constant, or a record of these and of
/// such records. The encoding is canonical and injective: two keys are equal exactly when their
/// bytes are.
///
/// ```
/// String   1, length, UTF-8
/// Long     2, eight bytes, big-endian
/// Integer  3, four bytes, big-endian
/// UUID     4, sixteen bytes
/// enum     5, class name, constant name           (both as length and UTF-8)
/// record   6, class name, count, components        (components as keys)
/// ```
///
/// Lengths and counts are unsigned LEB128 numbers.
public final class Keys {
  /// The longest encoding of a key.
  public static final int KEY_BYTES_MAX = 4096;

  private static final String SUPPORTED =
      "use a String, Long, Integer, UUID, enum constant, or a record of these";
  private static final int DEPTH_MAX = 16;

  static final byte STRING = 1;
  static final byte LONG = 2;
  static final byte INTEGER = 3;
  static final byte ID = 4;
  static final byte ENUM = 5;
  static final byte RECORD = 6;

  private static final ClassValue<RecordShape> SHAPES =
      new ClassValue<>() {
        @Override
        protected RecordShape computeValue(Class<?> type) {
          return RecordShape.of(type);
        }
      };

  private Keys() {}

  /// Refuses an object that is no key.
  ///
  /// @throws NotShareable naming the class and its replacement
  /// @throws LimitExceeded when the encoding is longer than [#KEY_BYTES_MAX]
  public static void check(@Nullable Object key) {
    encode(key);
  }

  /// Returns whether decoding a key runs no code of its class: it is neither an enum constant nor a
  /// record.
  public static boolean isPlain(byte[] encoded) {
    return encoded.length == 0 || encoded[0] < ENUM;
  }

  /// Returns whether the keys of a class are plain.
  public static boolean hasPlain(Class<?> keys) {
    return keys == String.class
        || keys == Long.class
        || keys == Integer.class
        || keys == UUID.class;
  }

  /// Returns the encoding of a key.
  ///
  /// @throws NotShareable when it is no key
  /// @throws LimitExceeded when the encoding is longer than [#KEY_BYTES_MAX]
  public static byte[] encode(@Nullable Object key) {
    if (key instanceof Long number) return encoded(number);
    if (key instanceof UUID id) return encoded(id);
    if (key instanceof String text) {
      byte[] ascii = ascii(text);
      if (ascii != null) return ascii;
    }
    var out = new ByteArrayOutputStream(32);
    write(key, out, 0);
    if (out.size() > KEY_BYTES_MAX) {
      throw new LimitExceeded(
          "the key takes " + out.size() + " bytes; KEY_BYTES_MAX is " + KEY_BYTES_MAX);
    }
    return out.toByteArray();
  }

  /// Returns the encoding of a short text of ASCII characters, as most keys are; null for others.
  private static byte @Nullable [] ascii(String text) {
    int length = text.length();
    if (length > 0x7F) return null;
    byte[] bytes = new byte[2 + length];
    bytes[0] = STRING;
    bytes[1] = (byte) length;
    for (int i = 0; i < length; i++) {
      char c = text.charAt(i);
      if (c > 0x7F) return null;
      bytes[2 + i] = (byte) c;
    }
    return bytes;
  }

  /// Returns the decoded key.
  ///
  /// @param loader finds the classes of enums and records
  /// @throws Corrupt when the bytes are no encoding of a key
  /// @throws NotShareable when the class of a record or enum is missing or has changed
  public static Object decode(byte[] bytes, @Nullable ClassLoader loader) {
    return decode(bytes, 0, bytes.length, loader);
  }

  /// Returns the key encoded in the bytes from `from` to `to`, exclusive, like [#decode(byte[],
  /// ClassLoader)].
  public static Object decode(byte[] bytes, int from, int to, @Nullable ClassLoader loader) {
    var in = new Input(bytes, from, to);
    Object key = read(in, loader, 0);
    if (in.at != to) {
      throw new Corrupt("the key has " + (to - in.at) + " bytes too many");
    }
    return key;
  }

  private static void write(@Nullable Object key, ByteArrayOutputStream out, int depth) {
    if (depth > DEPTH_MAX) {
      throw new NotShareable("the key nests records deeper than " + DEPTH_MAX + "; flatten it");
    }
    switch (key) {
      case null -> throw new NotShareable("null is no key; " + SUPPORTED);
      case String text -> {
        out.write(STRING);
        writeText(text, out);
      }
      case Long number -> out.writeBytes(encoded(number));
      case Integer number ->
          out.writeBytes(ByteBuffer.allocate(5).put(INTEGER).putInt(number).array());
      case UUID id -> out.writeBytes(encoded(id));
      case Enum<?> constant -> {
        out.write(ENUM);
        writeText(constant.getDeclaringClass().getName(), out);
        writeText(constant.name(), out);
      }
      case Record record -> {
        RecordShape shape = SHAPES.get(record.getClass());
        out.write(RECORD);
        writeText(record.getClass().getName(), out);
        writeLength(shape.accessors().size(), out);
        for (MethodHandle accessor : shape.accessors()) {
          write(component(accessor, record), out, depth + 1);
        }
      }
      default ->
          throw new NotShareable(
              "a " + key.getClass().getName() + " cannot be a key; " + SUPPORTED);
    }
  }

  private static Object component(MethodHandle accessor, Record record) {
    try {
      return (Object) accessor.invokeExact((Object) record);
    } catch (Throwable e) {
      throw new NotShareable(
          "an accessor of the key's " + record.getClass().getName() + " failed: " + e, e);
    }
  }

  private static byte[] encoded(long number) {
    return ByteBuffer.allocate(9).put(LONG).putLong(number).array();
  }

  private static byte[] encoded(UUID id) {
    return ByteBuffer.allocate(17)
        .put(ID)
        .putLong(id.getMostSignificantBits())
        .putLong(id.getLeastSignificantBits())
        .array();
  }

  static void writeText(String text, ByteArrayOutputStream out) {
    ByteBuffer bytes;
    try {
      bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
    } catch (CharacterCodingException e) {
      throw new NotShareable("the key holds half of a surrogate pair; use well-formed text", e);
    }
    writeLength(bytes.remaining(), out);
    out.write(bytes.array(), bytes.arrayOffset() + bytes.position(), bytes.remaining());
  }

  static void writeLength(int length, ByteArrayOutputStream out) {
    int rest = length;
    while (rest > 0x7F) {
      out.write((rest & 0x7F) | 0x80);
      rest >>>= 7;
    }
    out.write(rest);
  }

  /// Returns an encoded key as text, without its classes: as it describes itself, except that a
  /// record's components have no names.
  ///
  /// @throws Corrupt when the bytes are no encoding of a key
  public static String text(byte[] bytes) {
    var text = new StringBuilder();
    describe(new Input(bytes, 0, bytes.length), text, 0);
    return text.toString();
  }

  private static void describe(Input in, StringBuilder text, int depth) {
    if (depth > DEPTH_MAX) throw new Corrupt("a key nests deeper than " + DEPTH_MAX);
    switch (in.next()) {
      case ENUM -> {
        var _ = in.text();
        text.append(in.text());
      }
      case RECORD -> {
        String type = in.text();
        text.append(type, type.lastIndexOf('.') + 1, type.length()).append('[');
        int count = in.length();
        for (int i = 0; i < count; i++) {
          if (i > 0) text.append(", ");
          describe(in, text, depth + 1);
        }
        text.append(']');
      }
      default -> {
        in.at--;
        text.append(read(in, null, depth));
      }
    }
  }

  private static Object read(Input in, @Nullable ClassLoader loader, int depth) {
    if (depth > DEPTH_MAX) throw new Corrupt("a key nests deeper than " + DEPTH_MAX);
    return switch (in.next()) {
      case STRING -> in.text();
      case LONG -> in.fixed(8).getLong();
      case INTEGER -> in.fixed(4).getInt();
      case ID -> {
        ByteBuffer bytes = in.fixed(16);
        yield new UUID(bytes.getLong(), bytes.getLong());
      }
      case ENUM -> constant(load(in.text(), loader), in.text());
      case RECORD -> record(in, loader, depth);
      default -> throw new Corrupt("a key begins with byte " + in.bytes[in.at - 1]);
    };
  }

  private static Object constant(Class<?> type, String name) {
    if (type.isEnum()) {
      for (Object constant : type.getEnumConstants()) {
        if (((Enum<?>) constant).name().equals(name)) return constant;
      }
    }
    throw new NotShareable(
        "a stored key names the constant "
            + type.getName()
            + "."
            + name
            + ", which is gone; keep constants that keys use");
  }

  private static Object record(Input in, @Nullable ClassLoader loader, int depth) {
    Class<?> type = load(in.text(), loader);
    if (!type.isRecord()) {
      throw new NotShareable("a stored key needs " + type.getName() + " to be a record");
    }
    RecordShape shape = SHAPES.get(type);
    int count = in.length();
    if (count != shape.accessors().size()) {
      throw new NotShareable(
          "a stored key of "
              + type.getName()
              + " has "
              + count
              + " components, the record has "
              + shape.accessors().size()
              + "; key records cannot change");
    }
    Object[] components = new Object[count];
    for (int i = 0; i < count; i++) components[i] = read(in, loader, depth + 1);
    try {
      return (Object) shape.constructor().invokeExact(components);
    } catch (ClassCastException e) {
      throw new NotShareable(
          "a stored key does not fit " + type.getName() + "; key records cannot change", e);
    } catch (Throwable e) {
      throw new NotShareable("the constructor of " + type.getName() + " refuses a stored key", e);
    }
  }

  private static Class<?> load(String name, @Nullable ClassLoader loader) {
    try {
      return Class.forName(name, false, loader);
    } catch (ClassNotFoundException | LinkageError e) {
      throw new NotShareable(
          "a stored key needs the class "
              + name
              + ", which is not on the class path; keep the classes that keys use",
          e);
    }
  }

  /// The accessors and the constructor of a record.
  private record RecordShape(List<MethodHandle> accessors, MethodHandle constructor) {
    static RecordShape of(Class<?> type) {
      RecordComponent[] components = type.getRecordComponents();
      if (components == null) throw new NotShareable(type.getName() + " is no record");
      var accessors = new MethodHandle[components.length];
      var types = new Class<?>[components.length];
      try {
        var lookup = MethodHandles.lookup();
        for (int i = 0; i < components.length; i++) {
          var accessor = components[i].getAccessor();
          accessor.setAccessible(true);
          accessors[i] =
              lookup
                  .unreflect(accessor)
                  .asType(java.lang.invoke.MethodType.methodType(Object.class, Object.class));
          types[i] = components[i].getType();
        }
        Constructor<?> constructor = type.getDeclaredConstructor(types);
        constructor.setAccessible(true);
        MethodHandle spread =
            lookup
                .unreflectConstructor(constructor)
                .asSpreader(Object[].class, types.length)
                .asType(java.lang.invoke.MethodType.methodType(Object.class, Object[].class));
        return new RecordShape(List.of(accessors), spread);
      } catch (ReflectiveOperationException | RuntimeException e) {
        throw new NotShareable(
            "the record "
                + type.getName()
                + " cannot be read; "
                + ModuleAccess.remedy(type)
                + ": "
                + e.getMessage(),
            e);
      }
    }
  }

  private static final class Input {
    private final byte[] bytes;
    private final int to;
    private int at;

    Input(byte[] bytes, int from, int to) {
      this.bytes = bytes;
      this.at = from;
      this.to = to;
    }

    byte next() {
      if (at >= to) throw new Corrupt("a key ends too early, at byte " + at);
      return bytes[at++];
    }

    ByteBuffer fixed(int length) {
      if (length > to - at) throw new Corrupt("a key ends too early, at byte " + to);
      ByteBuffer slice = ByteBuffer.wrap(bytes, at, length);
      at += length;
      return slice;
    }

    int length() {
      int value = 0;
      for (int shift = 0; shift < 28; shift += 7) {
        byte next = next();
        value |= (next & 0x7F) << shift;
        if (next >= 0) {
          if (next == 0 && shift > 0) break;
          return value;
        }
      }
      throw new Corrupt("a key holds a malformed length, before byte " + at);
    }

    String text() {
      ByteBuffer slice = fixed(length());
      try {
        return StandardCharsets.UTF_8.newDecoder().decode(slice).toString();
      } catch (CharacterCodingException e) {
        throw new Corrupt("a key holds bytes that are no UTF-8, before byte " + at, e);
      }
    }
  }
}
