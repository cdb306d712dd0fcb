package stoa.front.marshal;

import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.text.Normalizer;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Locale;
import java.util.regex.Pattern;
import org.apache.fory.Fory;
import org.apache.fory.context.ReadContext;
import org.apache.fory.context.WriteContext;
import org.apache.fory.memory.MemoryBuffer;
import org.apache.fory.reflect.FieldAccessor;
import org.apache.fory.resolver.TypeResolver;
import org.apache.fory.serializer.Serializer;
import stoa.Corrupt;
import stoa.LimitExceeded;
import stoa.NotShareable;

/// Serializers of single values of the JDK, for types of which Fory's own serializers lose a part.
///
/// Each writes a value as Fory does if that is complete. Otherwise it begins with a mark that Fory
/// never writes in that place, so that it can read both.
@SuppressWarnings({"unchecked", "rawtypes"}) // Justification: Fory gives serializers raw
final class LosslessSerializers {
  private LosslessSerializers() {}

  static void register(Fory fory, TypeResolver resolver) {
    fory.registerSerializer(ZonedDateTime.class, new ZonedDateTimes(resolver));
    fory.registerSerializer(Locale.class, new Locales(resolver));
    fory.registerSerializer(Pattern.class, new Patterns(resolver));
    Class heap = ByteBuffer.allocate(0).getClass();
    fory.registerSerializer(heap, new ByteBuffers(resolver, heap));
    Class direct = ByteBuffer.allocateDirect(0).getClass();
    fory.registerSerializer(direct, new DirectBuffers(resolver, direct));
  }

  static FieldAccessor field(Class<?> type, String name) {
    try {
      Field field = type.getDeclaredField(name);
      return PrivateFields.of(field);
    } catch (NoSuchFieldException e) {
      throw new IllegalStateException("this JDK's " + type.getName() + " has no " + name, e);
    }
  }

  /// Times with a zone. A zone has some times of day twice, when clocks go back: the offset tells
  /// which one.
  ///
  /// ```
  /// as Fory writes it     year i32, ...
  /// with its offset       MARK i32, year i32, month u8, day u8, nanos of day i64, zone text, seconds of offset i32
  /// ```
  private static final class ZonedDateTimes extends Serializer<ZonedDateTime> {
    // Not a year of any date.
    private static final int MARK = Integer.MIN_VALUE;

    private final Serializer<ZonedDateTime> plain;

    ZonedDateTimes(TypeResolver resolver) {
      super(resolver.getConfig(), ZonedDateTime.class);
      plain = resolver.getSerializer(ZonedDateTime.class);
    }

    @Override
    public void write(WriteContext context, ZonedDateTime value) {
      LocalDateTime local = value.toLocalDateTime();
      if (ZonedDateTime.of(local, value.getZone()).equals(value)) {
        plain.write(context, value);
        return;
      }
      MemoryBuffer buffer = context.getBuffer();
      buffer.writeInt32(MARK);
      buffer.writeInt32(local.getYear());
      buffer.writeByte(local.getMonthValue());
      buffer.writeByte(local.getDayOfMonth());
      buffer.writeInt64(local.toLocalTime().toNanoOfDay());
      context.writeString(value.getZone().getId());
      buffer.writeInt32(value.getOffset().getTotalSeconds());
    }

    @Override
    public ZonedDateTime read(ReadContext context) {
      MemoryBuffer buffer = context.getBuffer();
      int start = buffer.readerIndex();
      if (buffer.readInt32() != MARK) {
        buffer.readerIndex(start);
        return plain.read(context);
      }
      LocalDate date = LocalDate.of(buffer.readInt32(), buffer.readByte(), buffer.readByte());
      LocalTime time = LocalTime.ofNanoOfDay(buffer.readInt64());
      ZoneId zone = ZoneId.of(context.readString());
      ZoneOffset offset = ZoneOffset.ofTotalSeconds(buffer.readInt32());
      return ZonedDateTime.ofLocal(LocalDateTime.of(date, time), zone, offset);
    }
  }

  /// ```
  /// language, country, variant    as text; loses scripts and extensions
  /// MARK, language tag            as text
  /// ```
  private static final class Locales extends Serializer<Locale> {
    // Not a language of a locale: those have small letters only.
    private static final String MARK = "TAG";

    Locales(TypeResolver resolver) {
      super(resolver.getConfig(), Locale.class);
    }

    @Override
    public void write(WriteContext context, Locale value) {
      if (plain(value.getLanguage(), value.getCountry(), value.getVariant()).equals(value)) {
        context.writeString(value.getLanguage());
        context.writeString(value.getCountry());
        context.writeString(value.getVariant());
        return;
      }
      String tag = value.toLanguageTag();
      if (!Locale.forLanguageTag(tag).equals(value)) {
        throw new NotShareable(
            "the locale "
                + value
                + " is not what its language tag, "
                + tag
                + ", says, and cannot travel or be stored; make it by Locale.forLanguageTag");
      }
      context.writeString(MARK);
      context.writeString(tag);
    }

    @Override
    public Locale read(ReadContext context) {
      String language = context.readString();
      if (language.equals(MARK)) return Locale.forLanguageTag(context.readString());
      return plain(language, context.readString(), context.readString());
    }

    private static Locale plain(String language, String country, String variant) {
      return Locale.of(language, country, variant);
    }
  }

  /// The expression and the flags of its compilation. `Pattern.flags()` also has the flags that the
  /// expression itself sets part of the way.
  private static final class Patterns extends Serializer<Pattern> {
    private static final FieldAccessor FLAGS = field(Pattern.class, "flags");

    // The most combining characters in a row: `CANON_EQ` tries the orders of as many.
    private static final int MARKS_MAX = 3;

    Patterns(TypeResolver resolver) {
      super(resolver.getConfig(), Pattern.class);
    }

    @Override
    public void write(WriteContext context, Pattern value) {
      int flags = FLAGS.getInt(value);
      check(value.pattern(), flags);
      context.writeString(value.pattern());
      context.getBuffer().writeInt32(flags);
    }

    @Override
    public Pattern read(ReadContext context) {
      String expression = context.readString();
      int flags = context.getBuffer().readInt32();
      check(expression, flags);
      return Pattern.compile(expression, flags);
    }

    /// Refuses an expression whose compilation tries all orders of many combining characters: that
    /// takes for ever and cannot be stopped.
    private static void check(String expression, int flags) {
      if ((flags & Pattern.CANON_EQ) == 0) return;
      int marks = 0;
      for (int c : Normalizer.normalize(expression, Normalizer.Form.NFD).codePoints().toArray()) {
        marks = c < 0x80 || Character.isLetterOrDigit(c) ? 0 : marks + 1;
        if (marks <= MARKS_MAX) continue;
        throw new LimitExceeded(
            "a pattern with CANON_EQ has more than "
                + MARKS_MAX
                + " combining characters one after the other (MARKS_MAX); normalize the expression"
                + " and the text instead, by java.text.Normalizer");
      }
    }
  }

  /// ```
  /// as Fory writes it   0 or 1 u8, ...                         position 0, the limit at the capacity
  /// with its position   MARK u8, big-endian u8, capacity, position, limit, mark + 1 as numbers, then the bytes
  /// ```
  private static final class ByteBuffers extends Serializer<ByteBuffer> {
    // Fory begins with 0 or 1.
    private static final int MARK = 2;

    private static final FieldAccessor MARKED = field(java.nio.Buffer.class, "mark");

    private final Serializer<ByteBuffer> plain;

    ByteBuffers(TypeResolver resolver, Class type) {
      super(resolver.getConfig(), type);
      plain = resolver.getSerializer(type);
    }

    @Override
    public void write(WriteContext context, ByteBuffer value) {
      int marked = MARKED.getInt(value);
      if (value.position() == 0 && value.limit() == value.capacity() && marked < 0) {
        plain.write(context, value);
        return;
      }
      MemoryBuffer buffer = context.getBuffer();
      buffer.writeByte(MARK);
      buffer.writeBoolean(value.order() == ByteOrder.BIG_ENDIAN);
      buffer.writeVarUInt32(value.capacity());
      buffer.writeVarUInt32(value.position());
      buffer.writeVarUInt32(value.limit());
      buffer.writeVarUInt32(marked + 1);
      buffer.writeBytes(value.array(), value.arrayOffset(), value.capacity());
    }

    @Override
    public ByteBuffer read(ReadContext context) {
      MemoryBuffer buffer = context.getBuffer();
      int start = buffer.readerIndex();
      if (buffer.readByte() != MARK) {
        buffer.readerIndex(start);
        // Fory's buffer is a view of the encoding itself.
        ByteBuffer shared = plain.read(context);
        return ByteBuffer.allocate(shared.remaining()).put(shared).flip().order(shared.order());
      }
      ByteOrder order = buffer.readBoolean() ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
      int capacity = buffer.readVarUInt32();
      int position = buffer.readVarUInt32();
      int limit = buffer.readVarUInt32();
      int marked = buffer.readVarUInt32() - 1;
      if (capacity < 0 || limit > capacity || position < 0 || position > limit) {
        throw new Corrupt("a buffer of " + capacity + " bytes from " + position + " to " + limit);
      }
      buffer.checkReadableBytes(capacity);
      ByteBuffer value = ByteBuffer.wrap(buffer.readBytes(capacity)).order(order).limit(limit);
      if (marked >= 0 && marked <= position) value.position(marked).mark();
      return value.position(position);
    }
  }

  /// Memory outside the heap, which a state must not contain; the serializer reads what earlier
  /// releases stored.
  private static final class DirectBuffers extends Serializer<ByteBuffer> {
    private final ByteBuffers heap;

    DirectBuffers(TypeResolver resolver, Class type) {
      super(resolver.getConfig(), type);
      heap = new ByteBuffers(resolver, type);
    }

    @Override
    public void write(WriteContext context, ByteBuffer value) {
      throw new NotShareable(
          "a "
              + value.getClass().getName()
              + " cannot travel or be stored; copy it into ByteBuffer.allocate, or an array of"
              + " bytes");
    }

    @Override
    public ByteBuffer read(ReadContext context) {
      return heap.read(context);
    }
  }
}
