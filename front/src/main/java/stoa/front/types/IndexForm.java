package stoa.front.types;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.LimitExceeded;
import stoa.NotShareable;
import stoa.base.StreamId;

/// The form of the values of one index: texts whose order is that of the values, so that an index
/// needs no class of a user.
///
/// ```
/// null      the empty text
/// others    the character 1, then the value:
///   text      itself
///   number    eight characters, the bytes of the number with its sign inverted, the first one first
///   real      likewise, the bits of the number in their order
///   decimal   a character for the sign, four for the exponent, then the digits
///   enum      the name of the constant
///   record    its components; texts, decimals and enums end with the character 0, and have 1 and
///             the next character in place of 0 and 1
/// ```
///
/// A text of more than [#LENGTH_MAX] characters is cut there, and a hash of the whole follows.
/// Immutable and thread-safe.
public final class IndexForm {
  /// The length of the longest form that is not cut.
  public static final int LENGTH_MAX = 1_000;

  // A class for each kind of which several need not be told apart to read it.
  private static final List<Class<?>> READABLE =
      List.of(
          String.class,
          long.class,
          double.class,
          boolean.class,
          char.class,
          BigDecimal.class,
          UUID.class,
          Instant.class,
          Duration.class,
          LocalDate.class,
          LocalTime.class,
          LocalDateTime.class);

  private static final int DEPTH_MAX = 8;
  private static final char ABSENT = 0;
  private static final char PRESENT = 1;
  private static final char END = 0;
  private static final char ESCAPE = 1;

  private enum Kind {
    TEXT,
    NUMBER,
    REAL,
    TRUTH,
    LETTER,
    DECIMAL,
    ID,
    INSTANT,
    DURATION,
    DATE,
    TIME,
    DATE_TIME,
    ENUM,
    RECORD
  }

  private record Part(Method accessor, IndexForm form) {}

  private final Kind kind;
  private final Class<?> type;
  private final List<Part> parts;

  private IndexForm(Kind kind, Class<?> type, List<Part> parts) {
    this.kind = kind;
    this.type = type;
    this.parts = parts;
  }

  /// Returns the form of the values of a class; null when they cannot be in an index.
  static @Nullable IndexForm of(Class<?> type) {
    return of(type, 0);
  }

  private static @Nullable IndexForm of(Class<?> type, int depth) {
    Kind kind = kind(type);
    if (kind == null || depth > DEPTH_MAX) return null;
    if (kind != Kind.RECORD) return new IndexForm(kind, type, List.of());
    var parts = new ArrayList<Part>();
    for (RecordComponent component : type.getRecordComponents()) {
      IndexForm form = of(component.getType(), depth + 1);
      if (form == null) return null;
      ModuleAccess.open(component.getAccessor());
      parts.add(new Part(component.getAccessor(), form));
    }
    return new IndexForm(kind, type, List.copyOf(parts));
  }

  private static @Nullable Kind kind(Class<?> type) {
    if (type == String.class) return Kind.TEXT;
    if (type == long.class || type == Long.class) return Kind.NUMBER;
    if (type == int.class || type == Integer.class) return Kind.NUMBER;
    if (type == short.class || type == Short.class) return Kind.NUMBER;
    if (type == byte.class || type == Byte.class) return Kind.NUMBER;
    if (type == double.class || type == Double.class) return Kind.REAL;
    if (type == float.class || type == Float.class) return Kind.REAL;
    if (type == boolean.class || type == Boolean.class) return Kind.TRUTH;
    if (type == char.class || type == Character.class) return Kind.LETTER;
    if (type == BigInteger.class || type == BigDecimal.class) return Kind.DECIMAL;
    if (type == UUID.class) return Kind.ID;
    if (type == Instant.class) return Kind.INSTANT;
    if (type == Duration.class) return Kind.DURATION;
    if (type == LocalDate.class) return Kind.DATE;
    if (type == LocalTime.class) return Kind.TIME;
    if (type == LocalDateTime.class) return Kind.DATE_TIME;
    if (type.isEnum()) return Kind.ENUM;
    return type.isRecord() ? Kind.RECORD : null;
  }

  /// Returns a text that is the same for all forms with the same meaning: two versions of a class
  /// whose indexes have equal names can read each other's entries.
  String name() {
    if (kind != Kind.RECORD) return kind.name().toLowerCase(java.util.Locale.ROOT);
    var text = new StringBuilder("(");
    for (Part part : parts) text.append(part.form.name()).append(',');
    return text.append(')').toString();
  }

  /// Returns a form of the name that [#name] returned, for a reader without the class: that of
  /// `long` for all whole numbers, of texts for enums, and so on; null for records.
  public static @Nullable IndexForm named(String name) {
    for (Class<?> type : READABLE) {
      IndexForm form = of(type);
      if (form != null && form.name().equals(name)) return form;
    }
    return name.equals("enum") ? of(String.class) : null;
  }

  /// Returns whether equal values have equal forms, whatever users write.
  boolean isPlain() {
    return kind != Kind.RECORD;
  }

  /// Returns whether it is the form of texts, which have prefixes.
  public boolean isText() {
    return kind == Kind.TEXT;
  }

  /// Returns the form of a value.
  ///
  /// @throws IllegalArgumentException when the value is of another class
  public String encode(@Nullable Object value) {
    return cut(encodeWhole(value));
  }

  /// Returns the beginning of the forms of all texts that begin with a prefix.
  ///
  /// @throws IllegalArgumentException when it is longer than what a form has of a text
  public String encodePrefix(@Nullable Object prefix) {
    String whole = encodeWhole(prefix);
    if (whole.length() <= LENGTH_MAX) return whole;
    throw new IllegalArgumentException(
        "a prefix of %,d characters; a query compares the first %,d of a text: ask for a shorter"
                .formatted(whole.length() - 1, LENGTH_MAX - 1)
            + " prefix, or by a predicate (Condition.meets)");
  }

  /// Returns the form of a value, whatever its length.
  ///
  /// @throws IllegalArgumentException when the value is of another class
  public String encodeWhole(@Nullable Object value) {
    if (value == null) return "";
    var out = new StringBuilder(16).append(PRESENT);
    try {
      write(value, out, false);
    } catch (ClassCastException other) {
      throw new IllegalArgumentException(
          "the index has values of " + type.getName() + ", and not " + value, other);
    }
    return out.toString();
  }

  private static String cut(String whole) {
    if (whole.length() <= LENGTH_MAX) return whole;
    var bytes = new byte[2 * whole.length()];
    for (int i = 0; i < whole.length(); i++) {
      bytes[2 * i] = (byte) (whole.charAt(i) >> 8);
      bytes[2 * i + 1] = (byte) whole.charAt(i);
    }
    return whole.substring(0, LENGTH_MAX) + StreamId.of(bytes);
  }

  private void write(Object value, StringBuilder out, boolean within) {
    switch (kind) {
      case TEXT -> text((String) value, out, within);
      case ENUM -> text(((Enum<?>) type.cast(value)).name(), out, within);
      case NUMBER -> number(number(value), out);
      case REAL -> number(ordered(real(value)), out);
      case TRUTH -> out.append((Boolean) value ? 'T' : 'F');
      case LETTER -> out.append((char) (Character) value);
      case DECIMAL -> decimal(value, out, within);
      case ID -> {
        number(((UUID) value).getMostSignificantBits(), out);
        number(((UUID) value).getLeastSignificantBits(), out);
      }
      case INSTANT -> {
        Instant time = (Instant) value;
        number(time.getEpochSecond(), out);
        number(time.getNano(), out);
      }
      case DURATION -> {
        Duration duration = (Duration) value;
        number(duration.toSeconds(), out);
        number(duration.toNanosPart(), out);
      }
      case DATE -> number(((LocalDate) value).toEpochDay(), out);
      case TIME -> number(((LocalTime) value).toNanoOfDay(), out);
      case DATE_TIME -> {
        number(((LocalDateTime) value).toLocalDate().toEpochDay(), out);
        number(((LocalDateTime) value).toLocalTime().toNanoOfDay(), out);
      }
      case RECORD -> {
        var _ = type.cast(value);
        for (Part part : parts) {
          Object component = component(part.accessor, value);
          out.append(component == null ? ABSENT : PRESENT);
          if (component != null) part.form.write(component, out, true);
        }
      }
    }
  }

  private static @Nullable Object component(Method accessor, Object record) {
    try {
      return accessor.invoke(record);
    } catch (ReflectiveOperationException failed) {
      throw new NotShareable("the components of " + record.getClass() + " cannot be read", failed);
    }
  }

  private static long number(Object value) {
    return switch (value) {
      case Long n -> n;
      case Integer n -> n;
      case Short n -> n;
      case Byte n -> n;
      default -> throw new ClassCastException(value.getClass().getName());
    };
  }

  private static double real(Object value) {
    return switch (value) {
      case Double d -> d;
      case Float f -> f;
      default -> throw new ClassCastException(value.getClass().getName());
    };
  }

  /// Returns a number in the order of [Double#compare].
  private static long ordered(double value) {
    long bits = Double.doubleToLongBits(value);
    return bits < 0 ? ~bits ^ Long.MIN_VALUE : bits;
  }

  private static void number(long value, StringBuilder out) {
    long bits = value ^ Long.MIN_VALUE;
    for (int shift = 56; shift >= 0; shift -= 8) out.append((char) ((bits >>> shift) & 0xFF));
  }

  private static void text(String text, StringBuilder out, boolean within) {
    if (!within) {
      out.append(text);
      return;
    }
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c <= ESCAPE) out.append(ESCAPE).append((char) (c + 1));
      else out.append(c);
    }
    out.append(END);
  }

  private static void decimal(Object value, StringBuilder into, boolean within) {
    var out = new StringBuilder();
    BigDecimal plain =
        (value instanceof BigInteger whole ? new BigDecimal(whole) : (BigDecimal) value)
            .stripTrailingZeros();
    if (plain.signum() == 0) {
      out.append('0');
    } else {
      boolean negative = plain.signum() < 0;
      int exponent = plain.precision() - plain.scale();
      int ordered = (negative ? -exponent : exponent) ^ Integer.MIN_VALUE;
      out.append(negative ? '-' : '1'); // '-' < '0' < '1'
      for (int shift = 24; shift >= 0; shift -= 8) out.append((char) ((ordered >>> shift) & 0xFF));
      String digits = plain.unscaledValue().abs().toString();
      for (int i = 0; i < digits.length(); i++) {
        char digit = digits.charAt(i);
        out.append(negative ? (char) ('0' + '9' - digit) : digit);
      }
      if (negative) out.append('~'); // -0.12 is before -0.1
    }
    text(out.toString(), into, within);
  }

  // ---- decoding

  /// Returns the value of a form.
  ///
  /// @throws LimitExceeded when the value was cut, and the form does not tell it
  /// @throws Corrupt when the text is no form of such a value
  public @Nullable Object decode(String form) {
    if (form.length() <= LENGTH_MAX) return decodeWhole(form);
    throw new LimitExceeded(
        "an index has the first %,d characters of a value, and one is longer; ask for a value that"
                .formatted(LENGTH_MAX - 1)
            + " tells less, by another accessor");
  }

  /// Returns the value of a form for people. Of a value that was cut, the end is missing, or the
  /// form is shown.
  public @Nullable Object shown(String form) {
    boolean isCut = form.length() > LENGTH_MAX;
    try {
      return decodeWhole(isCut ? form.substring(0, LENGTH_MAX) : form);
    } catch (Corrupt unreadable) {
      return form;
    }
  }

  /// Returns the value of a form that is whole.
  ///
  /// @throws Corrupt when the text is no form of such a value
  public @Nullable Object decodeWhole(String form) {
    if (form.isEmpty()) return null;
    try {
      return read(new Input(form), false);
    } catch (IndexOutOfBoundsException | IllegalArgumentException damaged) {
      throw new Corrupt("an index has the value " + form + ", which is none of " + type, damaged);
    }
  }

  private static final class Input {
    private final String text;
    private int at = 1;

    Input(String text) {
      this.text = text;
    }

    char next() {
      return text.charAt(at++);
    }

    long number() {
      long bits = 0;
      for (int i = 0; i < 8; i++) bits = (bits << 8) | (next() & 0xFF);
      return bits ^ Long.MIN_VALUE;
    }

    String text(boolean within) {
      if (!within) {
        int from = at;
        at = text.length();
        return text.substring(from);
      }
      var out = new StringBuilder();
      for (char c = next(); c != END; c = next()) {
        out.append(c == ESCAPE ? (char) (next() - 1) : c);
      }
      return out.toString();
    }
  }

  private @Nullable Object read(Input in, boolean within) {
    return switch (kind) {
      case TEXT -> in.text(within);
      case ENUM -> constant(in.text(within));
      case NUMBER -> integer(in.number());
      case REAL -> real(in.number());
      case TRUTH -> in.next() == 'T';
      case LETTER -> in.next();
      case DECIMAL -> decimal(in.text(within));
      case ID -> new UUID(in.number(), in.number());
      case INSTANT -> Instant.ofEpochSecond(in.number(), in.number());
      case DURATION -> Duration.ofSeconds(in.number(), in.number());
      case DATE -> LocalDate.ofEpochDay(in.number());
      case TIME -> LocalTime.ofNanoOfDay(in.number());
      case DATE_TIME ->
          LocalDateTime.of(LocalDate.ofEpochDay(in.number()), LocalTime.ofNanoOfDay(in.number()));
      case RECORD -> record(in);
    };
  }

  private Object constant(String name) {
    for (Object constant : type.getEnumConstants()) {
      if (((Enum<?>) constant).name().equals(name)) return constant;
    }
    throw new IllegalArgumentException(name);
  }

  private Object integer(long number) {
    if (type == int.class || type == Integer.class) return Math.toIntExact(number);
    if (type == short.class || type == Short.class) return (short) number;
    if (type == byte.class || type == Byte.class) return (byte) number;
    return number;
  }

  private Object real(long ordered) {
    long bits = ordered < 0 ? ~(ordered ^ Long.MIN_VALUE) : ordered;
    double value = Double.longBitsToDouble(bits);
    if (type == float.class || type == Float.class) return (float) value;
    return value;
  }

  private Object decimal(String form) {
    BigDecimal value = BigDecimal.ZERO;
    if (form.charAt(0) != '0') {
      boolean negative = form.charAt(0) == '-';
      int ordered = 0;
      for (int i = 1; i <= 4; i++) ordered = (ordered << 8) | (form.charAt(i) & 0xFF);
      int exponent = ordered ^ Integer.MIN_VALUE;
      if (negative) exponent = -exponent;
      var digits = new StringBuilder();
      for (int i = 5; i < form.length(); i++) {
        char digit = form.charAt(i);
        if (digit != '~') digits.append(negative ? (char) ('0' + '9' - digit) : digit);
      }
      var unscaled = new BigInteger(digits.toString());
      value = new BigDecimal(negative ? unscaled.negate() : unscaled, digits.length() - exponent);
    }
    return type == BigInteger.class ? value.toBigIntegerExact() : value;
  }

  private Object record(Input in) {
    var types = new Class<?>[parts.size()];
    var values = new @Nullable Object[parts.size()];
    for (int i = 0; i < types.length; i++) {
      Part part = parts.get(i);
      types[i] = part.form.type;
      values[i] = in.next() == ABSENT ? null : part.form.read(in, true);
    }
    try {
      Constructor<?> constructor = type.getDeclaredConstructor(types);
      ModuleAccess.open(constructor);
      return constructor.newInstance(values);
    } catch (ReflectiveOperationException failed) {
      throw new NotShareable("the record " + type.getName() + " cannot be made", failed);
    }
  }
}
