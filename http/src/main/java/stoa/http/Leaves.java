package stoa.http;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.base.Texts;

/// The forms of values that are one word in JSON. Stateless.
///
/// Whole numbers of magnitudes above 2^53 - 1 are written as texts, since readers of JSON that keep
/// numbers as binary fractions would round them (RFC 7493). They are read in both forms.
final class Leaves {
  private static final long EXACT_MAX = (1L << 53) - 1;
  private static final int DIGITS_MAX = 10_000;

  private static final Map<Class<?>, JsonForm> FORMS = new HashMap<>();

  static {
    FORMS.put(String.class, new Leaf("a text", true, Schemas.of("string", ""), Leaves::text));
    FORMS.put(boolean.class, new Flag());
    FORMS.put(Boolean.class, new Flag());
    whole(byte.class, Byte.class, "int32", number -> number.byteValueExact());
    whole(short.class, Short.class, "int32", number -> number.shortValueExact());
    whole(int.class, Integer.class, "int32", number -> number.intValueExact());
    whole(long.class, Long.class, "int64", number -> number.longValueExact());
    fraction(float.class, Float.class, "float", Float::parseFloat);
    fraction(double.class, Double.class, "double", Double::parseDouble);
    FORMS.put(char.class, new Leaf("one character", true, character(), Leaves::character));
    FORMS.put(Character.class, new Leaf("one character", true, character(), Leaves::character));
    FORMS.put(BigInteger.class, new Whole("integer", number -> number.toBigIntegerExact()));
    FORMS.put(BigDecimal.class, new Decimal());
    FORMS.put(byte[].class, new Base());
    word(UUID.class, "a UUID", "uuid", UUID::fromString);
    word(Instant.class, "a time in UTC, such as 2026-11-26T14:30:00Z", "date-time", Instant::parse);
    word(LocalDate.class, "a date, such as 2026-11-26", "date", LocalDate::parse);
    word(LocalTime.class, "a time of the day, such as 14:30:00", "local-time", LocalTime::parse);
    word(
        LocalDateTime.class,
        "a date and time, such as 2026-11-26T14:30:00",
        "local-date-time",
        LocalDateTime::parse);
    word(
        OffsetDateTime.class,
        "a time with an offset, such as 2026-11-26T14:30:00+01:00",
        "date-time",
        OffsetDateTime::parse);
    word(OffsetTime.class, "a time of the day with an offset", "time", OffsetTime::parse);
    word(ZonedDateTime.class, "a time with a zone", "zoned-date-time", ZonedDateTime::parse);
    word(Year.class, "a year", "year", Year::parse);
    word(YearMonth.class, "a month, such as 2026-11", "year-month", YearMonth::parse);
    word(MonthDay.class, "a day, such as --11-26", "month-day", MonthDay::parse);
    word(Duration.class, "a duration, such as PT1H30M", "duration", Duration::parse);
    word(Period.class, "a period, such as P1Y2M", "duration", Period::parse);
    word(ZoneId.class, "a time zone, such as Europe/Berlin", "zone", ZoneId::of);
    word(ZoneOffset.class, "an offset, such as +01:00", "offset", ZoneOffset::of);
    word(URI.class, "a URI", "uri", URI::create);
  }

  private Leaves() {}

  /// Returns the form of a class; null when its values are no words.
  static @Nullable JsonForm of(Class<?> type) {
    JsonForm found = FORMS.get(type);
    // Its classes are not public.
    return found == null && ZoneId.class.isAssignableFrom(type) ? FORMS.get(ZoneId.class) : found;
  }

  private static void whole(
      Class<?> primitive, Class<?> boxed, String format, Function<BigDecimal, Object> exact) {
    var form = new Whole(format, exact);
    FORMS.put(primitive, form);
    FORMS.put(boxed, form);
  }

  private static void fraction(
      Class<?> primitive, Class<?> boxed, String format, Function<String, Object> parse) {
    var form = new Fraction(format, parse);
    FORMS.put(primitive, form);
    FORMS.put(boxed, form);
  }

  private static void word(
      Class<?> type, String what, String format, Function<String, Object> parse) {
    FORMS.put(type, new Leaf(what, true, Schemas.of("string", format), parse));
  }

  private static JsonObject character() {
    JsonObject schema = Schemas.of("string", "");
    schema.addProperty("minLength", 1);
    schema.addProperty("maxLength", 1);
    return schema;
  }

  private static Object character(String text) {
    if (text.length() == 1) return text.charAt(0);
    throw new IllegalArgumentException("it has " + text.length());
  }

  private static Object text(String text) {
    var _ = Texts.utf8(text); // refuses half of a surrogate pair
    return text;
  }

  /// Returns the text of JSON that has one.
  ///
  /// @throws Problem when it is something else
  static String word(JsonElement json, String where, String what) {
    if (json instanceof JsonPrimitive word && word.isString()) return word.getAsString();
    throw wrong(json, where, what);
  }

  /// Returns the problem of JSON that is something else than it must be.
  static Problem wrong(JsonElement json, String where, String what) {
    String told = JsonText.text(json);
    String cut = told.length() <= 80 ? told : told.substring(0, 80) + "...";
    return Problem.wrong(where + " is " + cut + "; it must be " + what);
  }

  private record Leaf(
      String what, boolean isName, JsonObject written, Function<String, Object> parse)
      implements JsonForm {
    @Override
    public Object read(JsonElement json, String where) {
      String text = word(json, where, what);
      try {
        return parse.apply(text);
      } catch (DateTimeException | IllegalArgumentException wrong) {
        throw wrong(json, where, what);
      }
    }

    @Override
    public JsonElement write(Object value, String where) {
      String text = value.toString();
      try {
        var _ = Texts.utf8(text);
      } catch (IllegalArgumentException half) {
        throw new Inexpressible(where, "a text with half of a surrogate pair", "return other text");
      }
      return new JsonPrimitive(text);
    }

    @Override
    public JsonObject schema(Schemas schemas) {
      return written.deepCopy();
    }
  }

  private record Flag() implements JsonForm {
    @Override
    public Object read(JsonElement json, String where) {
      if (json instanceof JsonPrimitive flag && flag.isBoolean()) return flag.getAsBoolean();
      throw wrong(json, where, "true or false");
    }

    @Override
    public JsonElement write(Object value, String where) {
      return new JsonPrimitive((Boolean) value);
    }

    @Override
    public JsonObject schema(Schemas schemas) {
      return Schemas.of("boolean", "");
    }
  }

  /// Returns the number that JSON has, as a number or as text.
  private static BigDecimal number(JsonElement json, String where, String what) {
    boolean isNumber = json instanceof JsonPrimitive word && !word.isBoolean();
    try {
      if (isNumber && json.getAsString().length() <= DIGITS_MAX) {
        var number = new BigDecimal(json.getAsString());
        if (Math.abs((long) number.scale()) <= DIGITS_MAX) return number;
      }
    } catch (NumberFormatException none) {
      // Told below.
    }
    throw wrong(json, where, what + ", of at most " + DIGITS_MAX + " digits");
  }

  private record Whole(String format, Function<BigDecimal, Object> exact) implements JsonForm {
    @Override
    public Object read(JsonElement json, String where) {
      String what = "a whole number" + (isBounded() ? " of the range of " + format : "");
      try {
        return exact.apply(number(json, where, what));
      } catch (ArithmeticException beyond) {
        throw wrong(json, where, what);
      }
    }

    private boolean isBounded() {
      return !format.equals("integer");
    }

    @Override
    public JsonElement write(Object value, String where) {
      Number number = (Number) value;
      boolean isExact =
          value instanceof BigInteger large
              ? large.bitLength() <= 53 && Math.abs(large.longValue()) <= EXACT_MAX
              : number.longValue() <= EXACT_MAX && number.longValue() >= -EXACT_MAX;
      return isExact ? new JsonPrimitive(number) : new JsonPrimitive(value.toString());
    }

    @Override
    public JsonObject schema(Schemas schemas) {
      if (format.equals("int32")) return Schemas.of("integer", format);
      return Schemas.of("integer", "string", format);
    }

    @Override
    public boolean isName() {
      return true;
    }
  }

  private record Fraction(String format, Function<String, Object> parse) implements JsonForm {
    @Override
    public Object read(JsonElement json, String where) {
      if (json instanceof JsonPrimitive word && !word.isBoolean()) {
        String text = word.getAsString();
        boolean isNoNumber =
            text.equals("NaN") || text.equals("Infinity") || text.equals("-Infinity");
        if (word.isString() == isNoNumber && text.length() <= DIGITS_MAX) return parse.apply(text);
      }
      throw wrong(json, where, "a number, \"NaN\", \"Infinity\" or \"-Infinity\"");
    }

    @Override
    public JsonElement write(Object value, String where) {
      boolean isFinite = Double.isFinite(((Number) value).doubleValue());
      return isFinite ? new JsonPrimitive((Number) value) : new JsonPrimitive(value.toString());
    }

    @Override
    public JsonObject schema(Schemas schemas) {
      return Schemas.of("number", "string", format);
    }
  }

  private record Decimal() implements JsonForm {
    @Override
    public Object read(JsonElement json, String where) {
      return number(json, where, "a decimal number, as text or as a number");
    }

    @Override
    public JsonElement write(Object value, String where) {
      return new JsonPrimitive(value.toString()); // its scale is a part of it
    }

    @Override
    public JsonObject schema(Schemas schemas) {
      return Schemas.of("string", "number", "decimal");
    }
  }

  private record Base() implements JsonForm {
    private static final String WHAT = "bytes in Base64";

    @Override
    public Object read(JsonElement json, String where) {
      try {
        return Base64.getDecoder().decode(word(json, where, WHAT));
      } catch (IllegalArgumentException wrong) {
        throw wrong(json, where, WHAT);
      }
    }

    @Override
    public JsonElement write(Object value, String where) {
      return new JsonPrimitive(Base64.getEncoder().encodeToString((byte[]) value));
    }

    @Override
    public JsonObject schema(Schemas schemas) {
      JsonObject schema = Schemas.of("string", "byte");
      schema.addProperty("contentEncoding", "base64");
      return schema;
    }
  }
}
