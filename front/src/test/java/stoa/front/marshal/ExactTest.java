package stoa.front.marshal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.Month;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.AbstractMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Currency;
import java.util.Date;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.Vector;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.LimitExceeded;
import stoa.NotShareable;

/// A decoded value equals the encoded one in every visible respect, or the marshaller refuses it.
@SuppressWarnings({
  "JdkObsolete",
  "JavaUtilDate",
  "UnnecessaryStringBuilder"
}) // Justification: such values may travel as well
class ExactTest {
  enum Color {
    RED,
    GREEN {
      @Override
      String shade() {
        return "leaf";
      }
    };

    String shade() {
      return "plain";
    }
  }

  enum Nothing {}

  record Box(@Nullable Object content) {}

  record Numbers(float single, double real, char letter, Float boxed, Double other) {}

  /// Is met in the sets of others before its name, by which it hashes, is read.
  static final class Node implements Comparable<Node> {
    private final Map<Node, Integer> distances = new HashMap<>();
    private final Collection<Node> neighbors;
    private final String zName;

    Node(String name, Collection<Node> neighbors) {
      this.zName = name;
      this.neighbors = neighbors;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Node node && Objects.equals(node.zName, zName);
    }

    @Override
    public int hashCode() {
      return Objects.hash(zName);
    }

    @Override
    public int compareTo(Node other) {
      return zName.compareTo(other.zName);
    }
  }

  private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
  private static final double ODD_NAN = Double.longBitsToDouble(0xFFF0000000000123L);
  private static final float ODD_SINGLE_NAN = Float.intBitsToFloat(0x7F800123);

  private static final References NOTHING_SHARED =
      new References() {
        @Override
        public @Nullable Reference referenceOf(Object object) {
          return null;
        }

        @Override
        public Object facade(Reference reference, String form) {
          throw new UnsupportedOperationException(form);
        }

        @Override
        public Object resolve(Reference reference) {
          throw new UnsupportedOperationException(reference.toString());
        }
      };

  private final Marshaller marshaller =
      new Marshaller(
          new MemoryTypeIds(),
          NOTHING_SHARED,
          List.of(Color.class, Nothing.class, Box.class, Numbers.class, Node.class),
          ExactTest.class.getClassLoader(),
          1 << 20);

  private @Nullable Object back(@Nullable Object value) {
    return marshaller.value(marshaller.value(value));
  }

  /// Checks a value by itself, and inside a record and a list, where other code writes it.
  private void same(Object value) {
    assertEquals(seen(value), seen(back(value)), () -> "a " + value.getClass());
    assertEquals(seen(value), seen(box(new Box(value))), () -> "a " + value.getClass());
    var list = new ArrayList<@Nullable Object>(Arrays.asList(value, null, value));
    var listed = (List<?>) assertNotNullAnd(back(list));
    assertEquals(seen(list), seen(listed), () -> "a " + value.getClass());
    Object array = back(new Object[] {value, null});
    assertEquals(seen(value), seen(((Object[]) assertNotNullAnd(array))[0]));
  }

  private @Nullable Object box(Box box) {
    return ((Box) assertNotNullAnd(back(box))).content();
  }

  private static Object assertNotNullAnd(@Nullable Object value) {
    assertNotNull(value);
    return value;
  }

  private NotShareable refused(Object value) {
    assertThrows(NotShareable.class, () -> marshaller.value(new Box(value)));
    return assertThrows(NotShareable.class, () -> marshaller.value(value));
  }

  private static void says(Throwable thrown, String part) {
    String text = String.valueOf(thrown.getMessage());
    assertTrue(text.contains(part), text);
  }

  /// All that can be seen of a value, in a form whose `equals` goes by contents.
  private static @Nullable Object seen(@Nullable Object value) {
    return switch (value) {
      case null -> null;
      case Double d -> "double " + Long.toHexString(Double.doubleToRawLongBits(d));
      case Float f -> "float " + Integer.toHexString(Float.floatToRawIntBits(f));
      case Pattern p -> List.of("pattern", p.pattern(), p.flags(), matches(p));
      case StringBuilder s -> List.of("builder", s.toString());
      case StringBuffer s -> List.of("buffer", s.toString());
      case AtomicInteger n -> List.of("atomic int", n.get());
      case AtomicLong n -> List.of("atomic long", n.get());
      case AtomicBoolean b -> List.of("atomic boolean", b.get());
      case AtomicReference<?> r -> Arrays.asList("atomic", seen(r.get()));
      case Optional<?> o -> Arrays.asList("optional", seen(o.orElse(null)));
      case OptionalDouble o -> Arrays.asList("optional", o.isPresent(), seen(o.orElse(0)));
      case Locale l -> List.of(l, l.toLanguageTag(), l.toString(), l.getExtensionKeys());
      case URI u -> List.of(u, u.toString(), String.valueOf(u.getRawPath()));
      case ZonedDateTime t -> List.of(t, t.toInstant(), t.getOffset(), t.getZone());
      case java.sql.Timestamp t -> List.of(t, t.getNanos());
      case ByteBuffer b -> seen(b);
      case Numbers n ->
          Arrays.asList(seen(n.single), seen(n.real), n.letter, seen(n.boxed), seen(n.other));
      case Map.Entry<?, ?> e -> Arrays.asList(e.getClass(), seen(e.getKey()), seen(e.getValue()));
      case Map<?, ?> m -> {
        var seen = new ArrayList<@Nullable Object>();
        seen.add(named(m));
        if (m instanceof SortedMap<?, ?> s) seen.add(String.valueOf(s.comparator()));
        m.forEach((k, v) -> seen.add(Arrays.asList(seen(k), seen(v))));
        yield seen;
      }
      case Collection<?> c -> {
        var seen = new ArrayList<@Nullable Object>();
        seen.add(named(c));
        if (c instanceof SortedSet<?> s) seen.add(String.valueOf(s.comparator()));
        if (c instanceof PriorityQueue<?> q) seen.add(String.valueOf(q.comparator()));
        for (Object element : c) seen.add(seen(element));
        yield seen;
      }
      case Object[] array -> {
        var seen = new ArrayList<@Nullable Object>();
        seen.add(array.getClass());
        for (Object element : array) seen.add(seen(element));
        yield seen;
      }
      case double[] array -> Arrays.stream(array).mapToObj(ExactTest::seen).toList();
      case float[] array -> {
        var seen = new ArrayList<@Nullable Object>();
        for (float element : array) seen.add(seen(element));
        yield seen;
      }
      case boolean[] array -> "booleans " + Arrays.toString(array);
      case byte[] array -> "bytes " + Arrays.toString(array);
      case short[] array -> "shorts " + Arrays.toString(array);
      case int[] array -> "ints " + Arrays.toString(array);
      case long[] array -> "longs " + Arrays.toString(array);
      case char[] array -> "chars " + new String(array);
      default -> value.getClass() == Object.class ? "object" : value;
    };
  }

  /// The class, except where documents say that another of the same kind comes back: of `List.of`,
  /// `Set.of` and `Map.of`.
  private static String named(Object container) {
    String name = container.getClass().getName();
    boolean fixed = name.startsWith("java.util.ImmutableCollections$");
    boolean wrapped = name.startsWith("java.util.Collections$Unmodifiable");
    return fixed || wrapped ? "unmodifiable" : name;
  }

  private static List<Boolean> matches(Pattern pattern) {
    return Stream.of("ab", "Ab", "aB", "AB", "a b", "a", "a\nb", "é")
        .map(text -> pattern.matcher(text).find())
        .toList();
  }

  private static List<Object> seen(ByteBuffer buffer) {
    var all = new ArrayList<Object>(List.of(buffer.getClass(), buffer.order(), buffer.capacity()));
    all.add(List.of(buffer.position(), buffer.limit()));
    for (int i = 0; i < buffer.limit(); i++) all.add(buffer.get(i));
    ByteBuffer rest = buffer.duplicate().clear();
    while (rest.hasRemaining()) all.add(rest.get());
    try {
      all.add(buffer.duplicate().reset().position());
    } catch (java.nio.InvalidMarkException e) {
      all.add("no mark");
    }
    return all;
  }

  private static <T> T with(T value, Consumer<T> change) {
    change.accept(value);
    return value;
  }

  // ---- single values

  private static List<Object> times() {
    var all = new ArrayList<Object>();
    Collections.addAll(all, Instant.MIN, Instant.MAX, Instant.ofEpochSecond(-1, 999_999_999));
    Collections.addAll(all, Duration.ofSeconds(Long.MIN_VALUE), Duration.ofNanos(-1));
    Collections.addAll(all, Duration.ofSeconds(Long.MAX_VALUE, 999_999_999), Duration.ZERO);
    Collections.addAll(all, Period.of(Integer.MIN_VALUE, Integer.MAX_VALUE, -1), Period.ZERO);
    Collections.addAll(all, Period.of(0, 13, 400));
    Collections.addAll(all, LocalDate.MIN, LocalDate.MAX, LocalTime.MIN, LocalTime.MAX);
    Collections.addAll(all, LocalTime.of(23, 59, 0, 1), LocalTime.of(0, 0, 1), LocalTime.NOON);
    Collections.addAll(all, LocalDateTime.MIN, LocalDateTime.MAX, OffsetDateTime.MIN);
    Collections.addAll(all, OffsetDateTime.MAX, OffsetTime.MIN, OffsetTime.MAX);
    Collections.addAll(all, Year.of(Year.MIN_VALUE), Year.of(Year.MAX_VALUE), MonthDay.of(2, 29));
    Collections.addAll(all, YearMonth.of(Year.MIN_VALUE, 12), DayOfWeek.SUNDAY, ChronoUnit.FOREVER);
    all.addAll(List.of(Month.values()));
    Collections.addAll(all, ZoneOffset.MIN, ZoneOffset.MAX, ZoneOffset.UTC);
    Collections.addAll(all, ZoneOffset.ofTotalSeconds(-1), ZoneOffset.ofTotalSeconds(900 * 5));
    for (String zone : List.of("UTC", "GMT", "UT", "Z", "UTC+01:30", "GMT-03:00", "Etc/GMT+5")) {
      all.add(ZoneId.of(zone));
      all.add(ZonedDateTime.of(2024, 1, 1, 1, 1, 1, 1, ZoneId.of(zone)));
    }
    Collections.addAll(all, ZonedDateTime.of(LocalDateTime.MIN, ZoneOffset.MAX));
    Collections.addAll(all, ZonedDateTime.of(LocalDateTime.MAX, ZoneOffset.MIN));
    Collections.addAll(all, new Date(Long.MIN_VALUE), new Date(Long.MAX_VALUE));
    Collections.addAll(all, new java.sql.Date(5), new java.sql.Time(5_123));
    all.add(with(new java.sql.Timestamp(-1), t -> t.setNanos(999_999_999)));
    all.add(with(new java.sql.Timestamp(1_234), t -> t.setNanos(123_456_789)));
    return all;
  }

  private static List<Object> numbers() {
    var all = new ArrayList<Object>();
    Collections.addAll(all, Byte.MIN_VALUE, Short.MIN_VALUE, Integer.MIN_VALUE, Long.MIN_VALUE);
    Collections.addAll(all, Integer.MAX_VALUE, Long.MAX_VALUE, '\uD800', Character.MAX_VALUE);
    Collections.addAll(all, true, false, -0.0, 0.0, -0.0f, Double.MIN_VALUE, Float.MAX_VALUE);
    Collections.addAll(all, ODD_NAN, Double.NaN, Double.longBitsToDouble(0x7FF8000000000001L));
    Collections.addAll(all, ODD_SINGLE_NAN, Float.NaN, Float.intBitsToFloat(0xFFC00001));
    for (String number :
        List.of("1.00", "0E+10", "0.000", "1E+9999", "1E-9999", "-0.1", "99.99", "1e1", "-7")) {
      all.add(new BigDecimal(number));
    }
    all.add(new BigDecimal("9".repeat(50)).negate());
    for (int bits : new int[] {0, 7, 8, 63, 64, 2_000}) {
      all.add(BigInteger.ONE.shiftLeft(bits));
      all.add(BigInteger.ONE.shiftLeft(bits).negate());
      all.add(BigInteger.ONE.shiftLeft(bits).subtract(BigInteger.ONE));
    }
    Collections.addAll(all, new Numbers(ODD_SINGLE_NAN, ODD_NAN, '\uD800', -0.0f, ODD_NAN));
    Collections.addAll(all, new AtomicInteger(-5), new AtomicLong(Long.MIN_VALUE));
    Collections.addAll(all, new AtomicBoolean(true), new AtomicReference<>("x"));
    Collections.addAll(all, new AtomicReference<>(), OptionalInt.empty(), OptionalInt.of(0));
    Collections.addAll(all, OptionalLong.empty(), OptionalLong.of(Long.MIN_VALUE));
    Collections.addAll(all, OptionalDouble.empty(), OptionalDouble.of(-0.0));
    Collections.addAll(all, OptionalDouble.of(ODD_NAN), RoundingMode.HALF_EVEN, TimeUnit.DAYS);
    Collections.addAll(all, Optional.empty(), Optional.of(Optional.of(-0.0)), new UUID(-1, 1));
    all.add(BitSet.valueOf(new long[] {1, 0, Long.MIN_VALUE, 0}));
    all.add(new BitSet(1_000));
    return all;
  }

  private static List<Object> texts() {
    var all = new ArrayList<Object>();
    for (String text :
        List.of(
            "",
            "\uD800",
            "\uDC00",
            "a\uD800b",
            "\uDC00\uD800",
            "😀",
            "\u0000",
            "ÿ",
            "ÿ\uD800",
            "x".repeat(1_000) + "\uD800",
            "\uFFFE\uFFFF",
            "é".repeat(70),
            "漢\uDFFF",
            "?")) {
      Collections.addAll(all, text, new StringBuilder(text), new StringBuffer(text));
      Collections.addAll(all, text.toCharArray(), new String[] {text}, Optional.of(text));
      Collections.addAll(all, new LinkedHashMap<>(Map.of(text, text)), Map.entry(text, text));
    }
    return all;
  }

  private static List<Object> others() {
    var all = new ArrayList<Object>();
    for (String tag :
        List.of(
            "de-DE-u-co-phonebk-x-abc", "sr-Latn-RS", "zh-Hant", "de", "und", "ca-ES-valencia")) {
      all.add(Locale.forLanguageTag(tag));
    }
    Collections.addAll(all, Locale.ROOT, Locale.US, Locale.CANADA_FRENCH, Locale.of("iw"));
    Collections.addAll(all, Locale.of("ja", "JP", "JP"), Locale.of("th", "TH", "TH"));
    Collections.addAll(all, Locale.of("no", "NO", "NY"), Locale.of("es", "ES", "Traditional_WIN"));
    all.addAll(Currency.getAvailableCurrencies());
    for (String expression :
        List.of("a.b", "a(?i)b", "(?i)ab", "a(?x) b", "((?i)a)b", "(?-i)a", "a(?s).b", "(?U)é")) {
      for (int flags : new int[] {0, Pattern.CASE_INSENSITIVE, Pattern.DOTALL, Pattern.LITERAL}) {
        all.add(Pattern.compile(expression, flags));
      }
    }
    all.add(Pattern.compile("e\u0301\u0323\u0327.\u00e9", Pattern.CANON_EQ));
    for (String uri :
        List.of(
            "",
            "http://EXAMPLE.org:80/%41%c3%a9?q#f",
            "mailto:a@b",
            "http://[::1]/",
            "//x",
            "../x",
            "HTTP://x",
            "urn:isbn:1",
            "http://a_b/",
            "/é",
            "file:///x")) {
      all.add(URI.create(uri));
    }
    Collections.addAll(all, Color.RED, Color.GREEN, Color.class, String.class, int.class);
    Collections.addAll(all, String.CASE_INSENSITIVE_ORDER, Comparator.naturalOrder());
    Collections.addAll(all, Collections.reverseOrder(), new Object());
    all.add(new StackTraceElement("loader", "module", "1", "Class", "method", null, -2));
    var random = new Random(5);
    for (int i = 0; i < 50; i++) {
      byte[] bytes = new byte[random.nextInt(20)];
      random.nextBytes(bytes);
      var buffer = ByteBuffer.wrap(bytes).limit(random.nextInt(bytes.length + 1));
      int marked = random.nextInt(buffer.limit() + 1);
      if (random.nextBoolean()) buffer.position(marked).mark();
      buffer.position(marked + random.nextInt(buffer.limit() - marked + 1));
      all.add(random.nextBoolean() ? buffer : buffer.order(ByteOrder.LITTLE_ENDIAN));
      all.add(ByteBuffer.wrap(bytes));
    }
    all.add(ByteBuffer.wrap(new byte[] {1, 2, 3, 4}, 1, 2).slice());
    return all;
  }

  private static List<Object> arrays() {
    return List.of(
        new boolean[] {true, false},
        new byte[] {-1},
        new short[] {Short.MIN_VALUE},
        new int[] {Integer.MIN_VALUE},
        new long[] {Long.MIN_VALUE},
        new char[] {'\uD800'},
        new float[] {ODD_SINGLE_NAN, -0.0f},
        new double[] {ODD_NAN, -0.0},
        new Object[] {1, "a", null},
        new Object[][] {{1}, null, {}},
        new int[][] {{1}, null, {}},
        new @Nullable Boolean[] {true, null},
        new @Nullable Byte[] {-1, null},
        new @Nullable Short[] {-1, null},
        new @Nullable Integer[] {1, null},
        new @Nullable Long[] {Long.MIN_VALUE, null},
        new @Nullable Float[] {-0.0f, null},
        new @Nullable Double[] {ODD_NAN, null},
        new @Nullable Character[] {'\uD800', null},
        new @Nullable String[] {"\uD800", null},
        new Class<?>[] {int.class, String.class, Color.class},
        new Color[] {Color.GREEN},
        new Instant[] {Instant.MAX},
        new StackTraceElement[] {new StackTraceElement("a", "b", "c", 1)});
  }

  @Test
  void singleValuesComeBackInAllThatCanBeSeenOfThem() {
    times().forEach(this::same);
    numbers().forEach(this::same);
    texts().forEach(this::same);
    others().forEach(this::same);
    arrays().forEach(this::same);
  }

  @Test
  void everyTimeOfADayWhenClocksAreSetKeepsItsOffset() {
    for (String zone : List.of("Europe/Berlin", "America/New_York", "Australia/Lord_Howe")) {
      for (String day :
          List.of("2024-10-26T12:00:00Z", "2024-11-03T00:00:00Z", "2024-04-06T00:00:00Z")) {
        Instant start = Instant.parse(day);
        for (int minutes = 0; minutes < 36 * 60; minutes += 15) {
          same(start.plus(Duration.ofMinutes(minutes)).atZone(ZoneId.of(zone)));
        }
      }
    }
    var twice = LocalDateTime.of(2024, 10, 27, 2, 30);
    same(ZonedDateTime.ofLocal(twice, BERLIN, ZoneOffset.ofHours(1)));
    same(ZonedDateTime.ofLocal(twice, BERLIN, ZoneOffset.ofHours(2)));
  }

  @Test
  void randomNumbersAndTimesComeBack() {
    var random = new Random(7);
    for (int i = 0; i < 500; i++) {
      same(Double.longBitsToDouble(random.nextLong()));
      same(Float.intBitsToFloat(random.nextInt()));
      same(new BigDecimal(new BigInteger(random.nextInt(200), random), random.nextInt(400) - 200));
      same(Instant.ofEpochSecond(random.nextLong() >> 16, random.nextInt(1_000_000_000)));
      same(Duration.ofSeconds(random.nextLong(), random.nextInt(1_000_000_000)));
      char[] chars = new char[random.nextInt(6)];
      for (int c = 0; c < chars.length; c++) chars[c] = (char) (0xD700 + random.nextInt(0x1100));
      same(new String(chars));
    }
  }

  // ---- collections

  private static Map<String, Integer> byAccess() {
    var map = new LinkedHashMap<String, Integer>(16, 0.75f, true);
    for (String key : List.of("a", "b", "c")) map.put(key, key.charAt(0) - 'a');
    map.get("a");
    return map;
  }

  private static <T> T filled(T queue, Consumer<Integer> add) {
    for (int i : new int[] {5, 3, 8, 1, 9, 2, 2, 7}) add.accept(i);
    return queue;
  }

  private static List<Object> collections() {
    var all = new ArrayList<Object>();
    Comparator<String> reverse = Comparator.reverseOrder();
    for (Comparator<String> order :
        Arrays.asList(
            null, reverse, Comparator.<String>naturalOrder(), String.CASE_INSENSITIVE_ORDER)) {
      all.add(new TreeMap<String, Integer>(order));
      all.add(with(new TreeMap<String, Integer>(order), map -> map.putAll(Map.of("a", 1, "B", 2))));
      all.add(with(new TreeSet<>(order), set -> set.addAll(List.of("a", "B"))));
      all.add(with(new ConcurrentSkipListSet<>(order), set -> set.addAll(List.of("a", "B"))));
      all.add(
          with(
              new ConcurrentSkipListMap<String, Integer>(order),
              map -> map.putAll(Map.of("a", 1, "B", 2))));
      all.add(with(new PriorityQueue<>(order), queue -> queue.addAll(List.of("a", "B", "c", "B"))));
    }
    var heap = new PriorityQueue<Integer>();
    all.add(with(filled(heap, heap::add), PriorityQueue::poll));
    var equal = new PriorityQueue<BigDecimal>();
    for (String each : "1 1.0 1.00 0 1.000 0.0".split(" ", -1)) equal.add(new BigDecimal(each));
    all.add(equal);
    var deque = new ArrayDeque<Integer>();
    all.add(with(filled(deque, deque::addFirst), ArrayDeque::removeLast));
    all.add(new ArrayList<>(List.of(3, 1)));
    all.add(new HashMap<>(Map.of("a", 1)));
    all.add(with(new HashMap<@Nullable Object, @Nullable Object>(), map -> map.put(null, null)));
    all.add(new HashSet<>(List.of(1, 2, 3)));
    all.add(new ConcurrentHashMap<>(Map.of("a", 1)));
    all.add(new LinkedHashMap<>(Map.of("a", 1)));
    all.add(new LinkedHashSet<>(List.of(3, 1, 2)));
    all.add(new LinkedList<>(List.of(3, 1)));
    all.add(new Vector<>(List.of(3, 1)));
    all.add(new CopyOnWriteArrayList<>(List.of(3, 1)));
    all.add(new CopyOnWriteArraySet<>(List.of(3, 1)));
    all.add(new EnumMap<Color, Integer>(Map.of(Color.GREEN, 1)));
    all.add(EnumSet.of(Color.GREEN));
    all.add(EnumSet.allOf(Month.class));
    all.add(Arrays.asList("a", null));
    all.add(new ArrayList<>(List.of(1, 2, 3)).subList(1, 3));
    all.add(new LinkedList<>(List.of(1, 2, 3)).subList(1, 3));
    all.add(Arrays.asList(1, 2, 3).subList(1, 2));
    Collections.addAll(
        all, List.of(), List.of(1), List.of(1, 2, 3), List.of(1, 2, 3).subList(1, 2));
    Collections.addAll(
        all, Set.of(1), Map.of(1, 2), Stream.of(1, null).toList(), Map.of(), Set.of());
    Collections.addAll(all, Set.of(1, 2, 3), Map.of(1, 2, 3, 4));
    Collections.addAll(
        all, Collections.emptyList(), Collections.emptySet(), Collections.emptyMap());
    Collections.addAll(all, Collections.emptySortedSet(), Collections.emptySortedMap());
    Collections.addAll(all, Collections.singleton(1), Collections.singletonList(null));
    all.add(Collections.singletonMap(null, null));
    all.add(new AbstractMap.SimpleEntry<@Nullable Object, @Nullable Object>(null, null));
    all.add(new AbstractMap.SimpleImmutableEntry<>(1, "x"));
    all.add(Map.entry(1, "x"));
    return all;
  }

  private static List<Object> wrappers() {
    var array = new ArrayList<>(List.of(2, 1));
    var linked = new LinkedList<>(List.of(2, 1));
    var set = new LinkedHashSet<>(List.of(2, 1));
    var tree = new TreeMap<>(Map.of(1, 2));
    return List.of(
        Collections.unmodifiableCollection(array),
        Collections.unmodifiableList(array),
        Collections.unmodifiableList(linked),
        Collections.unmodifiableSet(set),
        Collections.unmodifiableSortedSet(new TreeSet<>(set)),
        Collections.unmodifiableMap(tree),
        Collections.unmodifiableSortedMap(tree),
        Collections.synchronizedCollection(array),
        Collections.synchronizedList(array),
        Collections.synchronizedList(linked),
        Collections.synchronizedSet(set),
        Collections.synchronizedSortedSet(new TreeSet<>(set)),
        Collections.synchronizedMap(tree),
        Collections.synchronizedSortedMap(tree),
        with(Collections.newSetFromMap(new HashMap<Object, Boolean>()), s -> s.add(1)),
        with(Collections.newSetFromMap(new ConcurrentHashMap<Object, Boolean>()), s -> s.add(1)),
        with(
            Collections.newSetFromMap(new TreeMap<Integer, Boolean>(Comparator.reverseOrder())),
            s -> s.addAll(set)));
  }

  @Test
  void collectionsComeBackInAllThatCanBeSeenOfThem() {
    collections().forEach(this::same);
    wrappers().forEach(this::same);
  }

  @Test
  void emptyCollectionsOfEnumsKeepTheirEnum() {
    @SuppressWarnings("unchecked")
    var map =
        (EnumMap<Color, Integer>) assertNotNullAnd(back(new EnumMap<Color, Integer>(Color.class)));
    assertEquals(Map.of(Color.RED, 1), with(map, m -> m.put(Color.RED, 1)));
    @SuppressWarnings("unchecked")
    var set = (EnumSet<Color>) assertNotNullAnd(back(EnumSet.noneOf(Color.class)));
    assertEquals(EnumSet.allOf(Color.class), EnumSet.complementOf(set));
  }

  /// Whichever key is the eldest, after one was used.
  private static String eldest(Map<String, Integer> map) {
    map.get("b");
    return map.keySet().iterator().next();
  }

  @Test
  @SuppressWarnings("unchecked")
  void aMapInTheOrderOfAccessStaysOneInsideWrappersToo() {
    var plain = (Map<String, Integer>) assertNotNullAnd(back(byAccess()));
    assertEquals(List.of("b", "c", "a"), List.copyOf(plain.keySet()));
    assertEquals("c", eldest(plain));
    assertEquals(
        "c",
        eldest(
            (Map<String, Integer>)
                assertNotNullAnd(back(Collections.synchronizedMap(byAccess())))));
    assertEquals(
        "c",
        eldest(
            (Map<String, Integer>)
                assertNotNullAnd(back(Collections.unmodifiableMap(byAccess())))));
    assertEquals("c", eldest((Map<String, Integer>) assertNotNullAnd(box(new Box(byAccess())))));
    var again = (Map<String, Integer>) assertNotNullAnd(back(back(byAccess())));
    assertEquals("c", eldest(again));
    var empty = (Map<String, Integer>) assertNotNullAnd(back(new LinkedHashMap<>(1, 1f, true)));
    empty.putAll(Map.of("b", 1));
    empty.put("d", 2);
    assertEquals("d", eldest(empty));
    var byInsertion =
        (Map<String, Integer>) assertNotNullAnd(back(new LinkedHashMap<>(byAccess())));
    assertEquals("b", eldest(byInsertion));
    var set = Collections.newSetFromMap(new LinkedHashMap<String, Boolean>(16, 0.75f, true));
    set.addAll(List.of("a", "b"));
    set.add("a");
    var setBack = (Set<String>) assertNotNullAnd(back(set));
    setBack.add("b");
    assertEquals(List.of("a", "b"), List.copyOf(setBack));
  }

  @Test
  void sharingInsideAGraphIsKept() {
    for (Supplier<Object> one :
        List.<Supplier<Object>>of(
            () -> new StringBuilder("x"),
            () -> new AtomicLong(2),
            Object::new,
            () -> new AbstractMap.SimpleEntry<>(1, 2),
            () -> new ArrayList<>(List.of(1)),
            () -> new AtomicReference<>("x"),
            () -> ByteBuffer.wrap(new byte[] {1}))) {
      Object shared = one.get();
      var back = (List<?>) assertNotNullAnd(back(new ArrayList<>(List.of(shared, shared))));
      assertSame(back.getFirst(), back.getLast());
    }
    var list = new ArrayList<>(List.of(1));
    var both =
        (List<?>)
            assertNotNullAnd(
                back(new ArrayList<>(List.of(list, Collections.unmodifiableList(list)))));
    @SuppressWarnings("unchecked")
    var first = (List<Integer>) both.getFirst();
    first.add(2);
    assertEquals(List.of(1, 2), both.getLast());
  }

  // ---- what is refused

  @Test
  void whatCannotBeKeptIsRefusedWithTheRemedy() {
    says(refused(new TreeSet<>(List.of(1, 2)).headSet(2)), "copy it into a new TreeSet");
    says(refused(new TreeSet<>(List.of(1, 2)).descendingSet()), "copy it into a new TreeSet");
    says(
        refused(new ConcurrentSkipListSet<>(List.of(1, 2)).tailSet(2)),
        "copy it into a new ConcurrentSkipListSet");
    says(refused(ByteBuffer.allocateDirect(3)), "copy it into ByteBuffer.allocate");
    says(refused(Collections.nCopies(2, 3)), "copy it into an ArrayList");
    says(refused(new TreeMap<>(Map.of(1, 2)).descendingMap()), "copy it into an ArrayList");
    for (Object other :
        List.of(
            new Random(5),
            new java.util.GregorianCalendar(),
            java.util.TimeZone.getDefault(),
            new java.util.IdentityHashMap<>(),
            new java.util.WeakHashMap<>(),
            new LinkedList<>().reversed(),
            new ArrayBlockingQueue<>(3),
            new LinkedBlockingQueue<>(3),
            ConcurrentHashMap.newKeySet(),
            java.nio.charset.StandardCharsets.UTF_8,
            java.net.InetAddress.getLoopbackAddress(),
            ByteBuffer.allocate(1).asReadOnlyBuffer(),
            java.nio.CharBuffer.wrap("x"),
            EnumSet.noneOf(Nothing.class),
            Collections.checkedList(new ArrayList<>(), String.class),
            new java.util.StringJoiner(","),
            new ArrayList<>().iterator(),
            new BigDecimal(BigInteger.ONE, Integer.MAX_VALUE))) {
      refused(other);
    }
  }

  @Test
  void hashCollectionsOfKeysWithPartsThatHashByAddressAreRefused() {
    for (Object key :
        List.of(
            Color.RED,
            Optional.of(Color.RED),
            Map.entry("a", Color.RED),
            List.of(Color.RED),
            Set.of(Color.RED),
            Map.of(1, Color.RED),
            EnumSet.of(Color.RED),
            new Box(Color.RED),
            new Box(Optional.of(List.of(Map.entry(new Box(Color.GREEN), 1)))),
            new AtomicLong(),
            new Box(new int[0]),
            Optional.of(String.class))) {
      says(refused(new HashMap<>(Map.of(key, 1))), "use EnumMap or LinkedHashMap");
      says(refused(new HashSet<>(List.of(key))), "use EnumSet or LinkedHashSet");
      says(refused(new ConcurrentHashMap<>(Map.of(key, 1))), "use ConcurrentSkipListMap");
      var set = Collections.newSetFromMap(new HashMap<Object, Boolean>());
      set.add(key);
      refused(set);
    }
    for (Object key :
        List.of(
            Optional.of("x"),
            Map.entry("a", 1),
            List.of(Optional.empty()),
            new Box("x"),
            Instant.MAX,
            new Box(Optional.of(List.of(Map.entry(new Box(2), 1)))))) {
      same(new HashMap<>(Map.of(key, 1)));
      same(new HashSet<>(List.of(key)));
    }
    same(new LinkedHashMap<>(Map.of(Optional.of(Color.RED), 1)));
  }

  @Test
  void aValueThatHoldsItselfAndIsMadeAfterItsPartsIsRefused() {
    var reference = new AtomicReference<Object>();
    reference.set(reference);
    says(refused(reference), "AtomicReference holds itself");
    var entry = new AbstractMap.SimpleEntry<Object, Object>(1, 2);
    entry.setValue(new ArrayList<>(List.of(List.of(entry))));
    says(refused(entry), "SimpleEntry holds itself");
    List<java.util.function.Function<List<Object>, Object>> makers =
        List.of(
            Collections::unmodifiableList,
            Collections::synchronizedList,
            Optional::of,
            List::of,
            Set::of,
            list -> Map.of(1, list),
            list -> Map.entry(1, list),
            Collections::singletonList,
            list -> new CopyOnWriteArrayList<>(List.of(list)),
            Box::new);
    for (var maker : makers) {
      var list = new ArrayList<>();
      Object around = maker.apply(list);
      list.add(new ArrayList<>(List.of(around)));
      says(refused(around), "holds itself");
      var back = (List<?>) assertNotNullAnd(back(list)); // the list is there before its parts are
      Object inside = ((List<?>) back.getFirst()).getFirst();
      Object through = inside instanceof Box(Object content) ? content : back;
      assertSame(back, through);
    }
  }

  @Test
  void objectsThatMeetEachOtherInSetsAreFoundThere() {
    List<Supplier<Collection<Node>>> makers =
        List.of(HashSet::new, LinkedHashSet::new, TreeSet::new, PriorityQueue::new);
    for (var maker : makers) {
      var one = new Node("one", maker.get());
      var two = new Node("two", maker.get());
      Collections.addAll(one.neighbors, one, two);
      Collections.addAll(two.neighbors, one, two);
      one.distances.putAll(Map.of(one, 0, two, 1));
      two.distances.putAll(Map.of(one, 2, two, 3));
      var first = (Node) assertNotNullAnd(back(one));
      Node second = first.distances.keySet().stream().filter(two::equals).findAny().orElseThrow();
      assertEquals(one.neighbors.getClass(), first.neighbors.getClass());
      assertTrue(first.neighbors.containsAll(List.of(first, second)));
      assertTrue(second.neighbors.containsAll(List.of(first, second)));
      assertEquals(2, second.neighbors.size());
      assertEquals(Map.of(first, 0, second, 1), first.distances);
      assertEquals(Map.of(first, 2, second, 3), second.distances);
    }
  }

  // ---- formats

  @Test
  void whatWasWrittenBeforeIsReadAsItWas() {
    ZonedDateTime twice = LocalDateTime.of(2024, 10, 27, 2, 30).atZone(BERLIN);
    assertEquals(twice, read("1f009de80700000a1b02e1344575726f70652f4265726c696e"));
    var map = (Map<?, ?>) assertNotNullAnd(read("1f00690300031504046202046304046100"));
    assertEquals(List.of("b", "c", "a"), List.copyOf(map.keySet()));
    assertEquals(1, map.get("b"));
    assertEquals(List.of("b", "c", "a"), List.copyOf(map.keySet()));
    assertEquals(new TreeSet<>(List.of(1)), read("1f006801fd080402"));
    assertEquals(Locale.of("sr", "RS"), read("1f00bf08737208525300"));
    var pattern = (Pattern) assertNotNullAnd(read("1f00961861283f69296202000000"));
    assertEquals("a(?i)b 2", pattern.pattern() + " " + pattern.flags());
    var buffer = (ByteBuffer) assertNotNullAnd(read("1f007a0103000040020301"));
    assertEquals(ByteBuffer.wrap(new byte[] {2, 3}), buffer);
    assertEquals(2, buffer.arrayOffset() + buffer.array().length, "the encoding is not shared");
    assertEquals(ByteBuffer.allocate(2), read("1f007b0103000040000001"));
  }

  @Test
  void anExpressionWhoseCompilationNeverEndsIsRefused() {
    String marks = "a\u0300\u0323\u0327\u0328\u0315\u0345\u031b\u0321\u0334\u05b0\u05b1\u05b2";
    byte[] bytes = marshaller.value(Pattern.compile(marks));
    assertEquals(marks, ((Pattern) assertNotNullAnd(marshaller.value(bytes))).pattern());
    int flags = bytes.length - Integer.BYTES; // the last ones
    assertEquals(0, bytes[flags]);
    bytes[flags] = (byte) Pattern.CANON_EQ;
    var refused = assertThrows(LimitExceeded.class, () -> marshaller.value(bytes));
    assertTrue(String.valueOf(refused.getMessage()).contains("CANON_EQ"), refused::toString);
    // One that is compiled already has fewer, or somebody had much time.
    var five = Pattern.compile(marks.substring(0, 5), Pattern.CANON_EQ);
    assertThrows(LimitExceeded.class, () -> marshaller.value(five));
  }

  private @Nullable Object read(String hex) {
    return marshaller.value(HexFormat.of().parseHex(hex));
  }

  /// Classes without examples: those that are refused, and one of which there are no instances but
  /// of lambdas, which are.
  private static final Set<String> WITHOUT_EXAMPLE =
      Set.of(
          "java.lang.Void",
          "java.lang.invoke.SerializedLambda",
          "java.nio.DirectByteBuffer",
          "java.util.concurrent.ArrayBlockingQueue",
          "java.util.concurrent.ConcurrentHashMap$KeySetView",
          "java.util.concurrent.LinkedBlockingQueue");

  private List<Class<?>> takenByFory() throws ReflectiveOperationException {
    var codec =
        new ForyCodec(
            new ClassRegistry(new MemoryTypeIds()), NOTHING_SHARED, getClass().getClassLoader(), 1);
    var fory = ForyCodec.class.getDeclaredField("fory");
    fory.setAccessible(true);
    var resolver = ((org.apache.fory.Fory) fory.get(codec)).getTypeResolver();
    return ((org.apache.fory.resolver.ClassResolver) resolver).getRegisteredClasses();
  }

  /// A class of the JDK that Fory would take, and for which there is no example here, may lose
  /// something unseen.
  @Test
  void thereIsAnExampleOfEveryClassThatIsTaken() throws ReflectiveOperationException {
    var shown = new HashSet<Class<?>>();
    for (List<Object> examples :
        List.of(times(), numbers(), texts(), others(), arrays(), collections(), wrappers())) {
      for (Object example : examples) shown.add(example.getClass());
    }
    var missing = new TreeSet<String>();
    for (Class<?> taken : takenByFory()) {
      boolean platform = stoa.front.types.Platform.has(taken) && !taken.isPrimitive();
      boolean thrown = Throwable.class.isAssignableFrom(taken); // see MarshallerTest
      if (platform && !thrown && !shown.contains(taken)) missing.add(taken.getName());
    }
    missing.removeAll(WITHOUT_EXAMPLE);
    assertEquals(Set.of(), missing);
  }
}
