package stoa.front.marshal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.CallFailed;
import stoa.Corrupt;
import stoa.Gone;
import stoa.LimitExceeded;
import stoa.NotShareable;
import stoa.Ref;
import stoa.Shared;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;

class MarshallerTest {
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

  sealed interface Shape permits Circle, Square, Group {}

  record Circle(double radius) implements Shape {}

  record Square(int side, String label) implements Shape {}

  record Group(List<Shape> shapes) implements Shape {}

  record Pair<A, B>(A first, B second) {}

  static class Base {
    private final int inherited;
    protected @Nullable String text = "base";

    Base(int inherited) {
      this.inherited = inherited;
    }
  }

  static final class Derived extends Base {
    private final long[] numbers;
    private final byte small;
    private final short medium;
    private final char letter;
    private final float single;
    private final double real;
    private final boolean flag;

    @SuppressWarnings("HidingField") // Justification: both must come back
    private @Nullable String text = "derived";

    transient int skipped = 7;
    @Nullable Derived next;

    Derived(int inherited, long... numbers) {
      super(inherited);
      this.numbers = numbers;
      this.small = -5;
      this.medium = 300;
      this.letter = 'ß';
      this.single = 1.5f;
      this.real = -0.0;
      this.flag = true;
    }
  }

  static class NotEnough extends Exception {
    private static final long serialVersionUID = 1L;
    private final long missing;
    private final transient Object hidden = "hidden";

    NotEnough(long missing, Throwable cause) {
      super("missing " + missing, cause);
      this.missing = missing;
    }
  }

  static class Unlisted extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Unlisted(String message) {
      super(message);
    }
  }

  @Shared(name = "test.Account", key = "id")
  static class Account {
    private final String id;
    private long balance;
    private @Nullable Account partner;
    private final Map<String, Shape> shapes = new LinkedHashMap<>();
    private final List<Object> anything = new ArrayList<>();
    private final Node root = new Node(this);

    /// Knows its owner, as an inner class would.
    static class Node {
      final Account owner;
      final List<Node> children = new ArrayList<>();

      Node(Account owner) {
        this.owner = owner;
      }
    }

    Account(String id) {
      this.id = id;
    }

    @Accessor
    String id() {
      return id;
    }

    long deposit(long n) throws NotEnough {
      if (n < 0) throw new NotEnough(-n, new IOException("no"));
      return balance += n;
    }

    Account self() {
      return this;
    }

    void all(
        int i,
        long l,
        boolean b,
        double d,
        float f,
        short s,
        byte y,
        char c,
        @Nullable String text,
        @Nullable UUID uuid,
        @Nullable Long boxed) {}

    void mixed(int count, List<Shape> shapes, String name, Account other, Color color) {}

    void arrays(Shape[] shapes, List<Circle[]> circles, List<String>[] lists) {}

    void rest(Pair<Derived, Color[]> pair, Map<String, ? extends Base> map) {}
  }

  private final SharedType type = SharedType.of(Account.class);
  private final MemoryTypeIds ids = new MemoryTypeIds();
  private final Account live = new Account("alice");
  private final Marshaller marshaller = marshaller(ids, List.of());

  private Marshaller marshaller(TypeIds dictionary, List<Class<?>> extra) {
    var result =
        new Marshaller(
            dictionary,
            new References() {
              @Override
              public @Nullable Reference referenceOf(Object object) {
                Proxied proxied = Proxies.of(object);
                if (proxied != null) return new Reference(proxied.ref(), 7);
                return object.equals(live)
                    ? new Reference(new Ref<Account>("test.Account", "alice"), 7)
                    : null;
              }

              @Override
              public Object facade(Reference reference, String form) {
                throw new UnsupportedOperationException(form);
              }

              @Override
              public Object resolve(Reference reference) {
                assertEquals(7, reference.generation());
                return proxy(reference.ref().key());
              }
            },
            extra,
            MarshallerTest.class.getClassLoader(),
            1 << 20);
    result.register(type);
    return result;
  }

  private Account proxy(Object key) {
    return Proxies.create(
        type,
        new Ref<Account>("test.Account", key),
        new Object[0],
        (proxied, method, arguments) -> method.id());
  }

  private Object roundTrip(Object value) {
    byte[] bytes = marshaller.value(value);
    Object back = marshaller.value(bytes);
    assertTrue(back != null, "null came back");
    assertArrayEquals(
        marshaller.value(marshaller.value(marshaller.value(back))), marshaller.value(back));
    return back;
  }

  private static void assertSays(Throwable thrown, String part) {
    String text = String.valueOf(thrown.getMessage());
    assertTrue(text.contains(part), text);
  }

  private static Object key(@Nullable Object proxy) {
    Proxied proxied = Proxies.of(proxy);
    return proxied == null ? "no proxy" : proxied.ref().key();
  }

  private void same(Object value) {
    Object back = roundTrip(value);
    assertEquals(value, back);
  }

  @Test
  void jdkValuesComeBackEqual() {
    same("");
    same("plain");
    same("ünïcode ☃ 😀");
    same("\uD800 lone");
    same(1);
    same(Integer.MIN_VALUE);
    same(Long.MIN_VALUE);
    same(-1L);
    same(true);
    same(false);
    same(Double.NaN);
    same(1.5f);
    same((short) 3);
    same((byte) -3);
    same('x');
    same(new UUID(1, -2));
    same(new BigDecimal("12345678901234567890.123450"));
    same(BigInteger.TWO.pow(200));
    same(Instant.ofEpochSecond(5, 999_999_999));
    same(Duration.ofNanos(-3));
    same(LocalDate.of(2024, 2, 29));
    same(LocalDateTime.of(2024, 2, 29, 23, 59));
    same(ZonedDateTime.of(2024, 1, 1, 1, 1, 1, 1, ZoneOffset.ofHours(2)));
    same(java.time.Period.ofMonths(2));
    same(java.time.Year.of(5));
    same(java.time.YearMonth.of(5, 5));
    same(java.time.MonthDay.of(5, 5));
    same(java.time.LocalTime.MIDNIGHT);
    same(java.time.OffsetDateTime.of(2024, 1, 1, 1, 1, 1, 1, ZoneOffset.UTC));
    same(java.time.ZoneId.of("Europe/Berlin"));
    same(java.time.DayOfWeek.MONDAY);
    same(Optional.of("x"));
    same(Optional.empty());
    same(OptionalLong.of(3));
    same(java.net.URI.create("http://example.org/x?y"));
    same(java.util.Locale.GERMANY);
    same(java.util.Currency.getInstance("EUR"));
  }

  @Test
  void jdkCollectionsComeBackEqualAndOfTheSameClass() {
    var values =
        List.of(
            new ArrayList<>(List.of(1, "two", 3L)),
            new HashMap<>(Map.of("a", 1, "b", 2)),
            new LinkedHashMap<>(Map.of("a", 1)),
            new TreeMap<>(Map.of("b", 1, "a", 2)),
            new HashSet<>(List.of("a", "b", "c")),
            new LinkedHashSet<>(List.of(3, 1, 2)),
            new TreeSet<>(List.of(3, 1, 2)),
            new EnumMap<>(Map.of(Color.GREEN, 1, Color.RED, 2)),
            EnumSet.of(Color.RED, Color.GREEN),
            EnumSet.noneOf(Color.class),
            new ConcurrentHashMap<>(Map.of("a", 1)),
            List.of(),
            List.of(1),
            List.of(1, 2, 3),
            List.copyOf(List.of("x")),
            Collections.unmodifiableList(new ArrayList<>(List.of(1))),
            Collections.unmodifiableMap(new LinkedHashMap<>(Map.of(1, 2))),
            Collections.unmodifiableSet(new LinkedHashSet<>(List.of(1))),
            Collections.unmodifiableCollection(new ArrayList<>(List.of(1))).stream().toList(),
            java.util.stream.Stream.of("a", null).toList(),
            List.of(1, 2, 3, 4).subList(1, 3),
            Collections.emptyList(),
            Collections.emptyMap(),
            Collections.emptySet(),
            Collections.singletonList(1),
            Collections.singleton(1),
            Collections.singletonMap(1, 2),
            Collections.synchronizedList(new ArrayList<>(List.of(1))),
            Arrays.asList("a", "b", null),
            Map.entry("a", 1),
            new java.util.AbstractMap.SimpleEntry<>("a", 1));
    for (Object value : values) {
      Object back = roundTrip(value);
      assertEquals(value, back, () -> "a " + value.getClass());
    }
  }

  @Test
  void queuesAndMutableCellsComeBack() {
    assertEquals(
        List.of(1, 2), List.copyOf((ArrayDeque<?>) roundTrip(new ArrayDeque<>(List.of(1, 2)))));
    var queue = new PriorityQueue<Integer>(Comparator.reverseOrder());
    queue.addAll(List.of(1, 3, 2));
    var back = (PriorityQueue<?>) roundTrip(queue);
    assertEquals(3, back.poll());
    assertEquals(5, ((AtomicLong) roundTrip(new AtomicLong(5))).get());
    var map = new TreeMap<String, Integer>(String.CASE_INSENSITIVE_ORDER);
    map.put("A", 1);
    assertEquals(1, ((TreeMap<?, ?>) roundTrip(map)).get("a"));
    var bits = new java.util.BitSet();
    bits.set(5);
    assertEquals(bits, roundTrip(bits));
  }

  @Test
  void setsOfAnyOrderComeBackUnmodifiableInTheOrderOfTheBytes() {
    Set<Integer> set = Set.of(1, 2, 3, 4, 5);
    var back = (Set<?>) roundTrip(set);
    assertEquals(set, back);
    assertEquals(List.copyOf(set), List.copyOf(back));
    assertThrows(UnsupportedOperationException.class, back::clear);
    Map<Integer, String> map = Map.of(1, "a", 2, "b", 3, "c");
    var mapBack = (Map<?, ?>) roundTrip(map);
    assertEquals(map, mapBack);
    assertEquals(List.copyOf(map.keySet()), List.copyOf(mapBack.keySet()));
    assertThrows(UnsupportedOperationException.class, mapBack::clear);
  }

  @Test
  void arraysComeBackEqual() {
    Object[][] arrays = {
      {new int[] {1, -2}, new long[] {3}, new byte[] {1}, new double[] {1.5}, new char[] {'x'}},
      {new boolean[] {true}, new short[] {1}, new float[] {1f}, new String[] {"a", null}},
      {new Color[] {Color.GREEN}, new Shape[] {new Circle(1)}, new int[][] {{1}, {2, 3}}},
      {new Object[] {1, "a", null}, new Circle[0], new List<?>[] {List.of(1)}}
    };
    Object back = roundTrip(arrays);
    assertTrue(Arrays.deepEquals(arrays, (Object[]) back));
  }

  @Test
  void recordsEnumsAndSealedTypesComeBackEqual() {
    same(new Circle(2));
    same(new Square(3, "x"));
    same(new Group(List.of(new Circle(1), new Group(List.of()), new Square(-1, ""))));
    assertSame(Color.RED, roundTrip(Color.RED));
    assertSame(Color.GREEN, roundTrip(Color.GREEN));
    same(new Pair<>(Color.GREEN, List.of(Color.GREEN)));
    same(new Ref<Account>("test.Account", new UUID(1, 2)));
  }

  @Test
  void privateFinalAndHiddenFieldsComeBack() {
    var value = new Derived(5, 1, 2, 3);
    ((Base) value).text = null;
    value.next = value;
    value.skipped = 9;
    var back = (Derived) roundTrip(value);
    assertEquals(5, ((Base) back).inherited);
    assertNull(((Base) back).text);
    assertEquals("derived", back.text);
    assertArrayEquals(new long[] {1, 2, 3}, back.numbers);
    assertEquals(-5, back.small);
    assertEquals(300, back.medium);
    assertEquals('ß', back.letter);
    assertEquals(1.5f, back.single);
    assertEquals(Double.doubleToRawLongBits(-0.0), Double.doubleToRawLongBits(back.real));
    assertTrue(back.flag);
    assertSame(back, back.next);
    assertEquals(7, back.skipped, "transient fields are not stored");
    assertNotSame(value, back);
  }

  @Test
  void simpleArgumentsTakeFewBytes() {
    SharedMethod deposit = type.method("deposit(long)");
    byte[] bytes = marshaller.arguments(deposit, new Object[] {5L});
    assertEquals(2, bytes.length);
    assertArrayEquals(new Object[] {5L}, marshaller.arguments(deposit, bytes));
  }

  @Test
  void argumentsOfEveryKindComeBack() {
    SharedMethod all =
        type.methods().stream().filter(m -> m.name().equals("all")).findFirst().orElseThrow();
    Object[] given = {
      -1, Long.MIN_VALUE, true, Math.PI, 1.5f, (short) -9, (byte) 9, 'ö', "t", new UUID(3, 4), 8L
    };
    assertArrayEquals(given, marshaller.arguments(all, marshaller.arguments(all, given)));
    @Nullable Object[] nulls = given.clone();
    nulls[8] = null;
    nulls[9] = null;
    nulls[10] = null;
    assertArrayEquals(nulls, marshaller.arguments(all, marshaller.arguments(all, nulls)));
  }

  @Test
  void simpleAndOtherArgumentsMix() {
    SharedMethod mixed =
        type.methods().stream().filter(m -> m.name().equals("mixed")).findFirst().orElseThrow();
    Account other = proxy("bob");
    Object[] given = {3, List.of(new Circle(1)), "name", other, Color.GREEN};
    byte[] bytes = marshaller.arguments(mixed, given);
    byte[] inside = new byte[bytes.length + 7];
    System.arraycopy(bytes, 0, inside, 3, bytes.length);
    Object[] back = marshaller.arguments(mixed, inside, 3, 3 + bytes.length);
    assertArrayEquals(given, back);
    assertEquals("bob", key(back[3]));
  }

  @Test
  void sharedObjectsTravelAsReferencesAnywhere() {
    Account bob = proxy("bob");
    var value =
        new Pair<>(
            List.of(bob, live), new LinkedHashMap<>(Map.of(bob, Optional.of(new Pair<>(bob, 1)))));
    var back = (Pair<?, ?>) roundTrip(value);
    var list = (List<?>) back.first();
    assertEquals("bob", key(list.get(0)));
    assertEquals("alice", key(list.get(1)));
    assertEquals(value.second(), back.second());
    assertTrue(((Account) list.get(0)).id().startsWith("id("));
  }

  @Test
  void anUnmanagedSharedObjectIsRefusedWithTheRemedy() {
    var raw = new Account("raw");
    var e = assertThrows(NotShareable.class, () -> marshaller.value(List.of(raw)));
    assertSays(e, "MarshallerTest$Account made with new");
    assertSays(e, "Call.get");
  }

  @Test
  void stateHoldsTheInstanceItselfAndReferencesOfOthers() {
    live.balance = 12;
    live.partner = proxy("bob");
    live.shapes.put("x", new Circle(1));
    live.anything.add(Color.GREEN);
    live.anything.add(live.shapes);
    live.anything.add(live);
    live.root.children.add(new Account.Node(live));
    byte[] bytes = marshaller.state(type, live);
    var back = (Account) marshaller.state(type, bytes);
    assertSame(Account.class, back.getClass());
    assertEquals("alice", back.id);
    assertEquals(12, back.balance);
    assertEquals("bob", key(back.partner));
    assertSame(back.shapes, back.anything.get(1));
    assertSame(back, back.anything.get(2), "this inside its own state is the instance");
    assertSame(back, back.root.children.getFirst().owner);
    assertArrayEquals(bytes, marshaller.state(type, back));
  }

  @Test
  void unregisteredClassesAreRefusedWithTheRemedy() {
    var unlisted = new Object() {};
    var e = assertThrows(NotShareable.class, () -> marshaller.value(List.of(unlisted)));
    assertSays(e, unlisted.getClass().getName());
    assertSays(e, "StoaConfig.types");
    Runnable lambda = () -> {};
    var l = assertThrows(NotShareable.class, () -> marshaller.value(lambda));
    assertSays(l, "lambda");
    assertThrows(NotShareable.class, () -> marshaller.value(Thread.currentThread()));
    assertThrows(NotShareable.class, () -> marshaller.value(new java.io.File("x")));
  }

  @Test
  void viewsOfCollectionsAreRefusedWithTheRemedy() {
    var map = new HashMap<>(Map.of("a", 1));
    var views =
        List.of(
            map.keySet(),
            map.values(),
            map.entrySet(),
            new TreeMap<>(map).headMap("b"),
            new ArrayList<>(List.of(1)).reversed(),
            ConcurrentHashMap.newKeySet(),
            new java.util.concurrent.ArrayBlockingQueue<>(3),
            Collections.nCopies(2, 3));
    for (Object view : views) {
      var e = assertThrows(NotShareable.class, () -> marshaller.value(view));
      assertSays(e, "copy it into an ArrayList");
      assertSays(e, view.getClass().getName());
    }
  }

  @Test
  void circlesOfMutableObjectsComeBackAsCircles() {
    var list = new ArrayList<>();
    list.add(list);
    var back = (List<?>) java.util.Objects.requireNonNull(marshaller.value(marshaller.value(list)));
    assertSame(back, back.getFirst());
    var map = new LinkedHashMap<String, Object>();
    map.put("derived", new Derived(1));
    map.put("self", map);
    var mapBack =
        (Map<?, ?>) java.util.Objects.requireNonNull(marshaller.value(marshaller.value(map)));
    assertSame(mapBack, mapBack.get("self"));
  }

  @Test
  void recordsThatHoldThemselvesAreRefused() {
    var list = new ArrayList<Shape>();
    var group = new Group(list);
    list.add(new Circle(1));
    list.add(new Group(List.of(group)));
    var e = assertThrows(NotShareable.class, () -> marshaller.value(group));
    assertSays(e, "MarshallerTest$Group holds itself");
    list.removeLast();
    same(group);
    same(new Group(List.of(group, group)));
    var nested = new ArrayList<Object>();
    var pair = new Pair<Object, Object>(new ArrayList<>(List.of(nested)), 1);
    nested.add(new Pair<Object, Object>(1, pair));
    assertThrows(NotShareable.class, () -> marshaller.value(pair));
  }

  static class Cached {
    private final int n;
    private transient Map<String, Integer> cache = new LinkedHashMap<>();
    private transient int count = 5;

    Cached(int n) {
      this.n = n;
    }

    int lookUp(String key) {
      count++;
      return cache.computeIfAbsent(key, k -> k.length() + n) + count;
    }
  }

  @Test
  void transientFieldsStartFromTheirInitializers() {
    Marshaller listing = marshaller(ids, List.of(Cached.class));
    var cached = new Cached(3);
    assertEquals(12, cached.lookUp("abc"));
    var back = (Cached) java.util.Objects.requireNonNull(listing.copy(cached));
    assertEquals(12, back.lookUp("abc"));
  }

  record Extra(int x) {}

  @Test
  void listedClassesTravelAndUnknownIdsAreRefusedWhenRead() {
    Marshaller listing = marshaller(ids, List.of(Extra.class));
    byte[] bytes = listing.value(List.of(new Extra(3)));
    assertEquals(List.of(new Extra(3)), listing.value(bytes));
    var e = assertThrows(NotShareable.class, () -> marshaller.value(bytes));
    assertSays(e, "MarshallerTest$Extra is stored, and no declared field");
    assertSays(e, "StoaConfig.types");
  }

  @Test
  void idsComeFromNamesAndNotFromTheOrderOfRegistration() {
    Marshaller first = marshaller(ids, List.of(Extra.class, Derived.class));
    Marshaller second = marshaller(ids, List.of(Derived.class, Extra.class));
    assertEquals(new Extra(4), second.value(first.value(new Extra(4))));
  }

  @Test
  void hashCollectionsOfIdentityHashedKeysAreRefused() {
    var map = new HashMap<Object, Integer>();
    map.put(Color.RED, 1);
    var e = assertThrows(NotShareable.class, () -> marshaller.value(map));
    assertSays(e, "EnumMap or LinkedHashMap");
    var set = new HashSet<Object>(List.of(new Pair<>(1, 2)));
    assertEquals(set, roundTrip(set));
    set.add(new Derived(1));
    assertThrows(NotShareable.class, () -> marshaller.value(set));
  }

  @Test
  void exceptionsReachTheCallerAsThemselves() {
    var thrown = assertThrows(NotEnough.class, () -> live.deposit(-5));
    thrown.addSuppressed(new IllegalStateException("also"));
    var back = assertInstanceOf(NotEnough.class, marshaller.thrown(marshaller.thrown(thrown)));
    assertEquals("missing 5", back.getMessage());
    assertEquals(5, back.missing);
    assertNull(back.hidden);
    assertInstanceOf(IOException.class, back.getCause());
    assertEquals("java.io.IOException: no", String.valueOf(back.getCause()));
    assertEquals("also", back.getSuppressed()[0].getMessage());
    assertEquals(thrown.getStackTrace().length, back.getStackTrace().length);
    assertEquals(
        String.valueOf(thrown.getStackTrace()[0]), String.valueOf(back.getStackTrace()[0]));
    back.addSuppressed(new Error("later"));
    assertEquals(2, back.getSuppressed().length);
  }

  @Test
  void exceptionsThatAreKeptHaveNoTrace() {
    var kept = new ArrayList<Object>();
    kept.add(new NotEnough(1, new IOException("no")));
    kept.add(new IllegalStateException("why", new IllegalArgumentException("because")));
    byte[] here = marshaller.value((Object) kept);
    var back = (List<?>) java.util.Objects.requireNonNull(marshaller.value(here));
    assertEquals("missing 1", ((NotEnough) back.getFirst()).getMessage());
    var thrown = (IllegalStateException) back.getLast();
    assertEquals("why", thrown.getMessage());
    assertEquals("java.lang.IllegalArgumentException: because", "" + thrown.getCause());
    assertEquals(0, thrown.getStackTrace().length);
    assertArrayEquals(here, marshaller.value((Object) back));
  }

  @Test
  void exceptionsWithoutACauseMayStillBeGivenOne() {
    var back = marshaller.thrown(marshaller.thrown(new IllegalArgumentException("x")));
    assertNull(back.getCause());
    back.initCause(new IOException("y"));
    assertEquals("java.io.IOException: y", String.valueOf(back.getCause()));
    assertEquals(Gone.class, marshaller.thrown(marshaller.thrown(new Gone("g"))).getClass());
    assertEquals(
        StackOverflowError.class,
        marshaller.thrown(marshaller.thrown(new StackOverflowError())).getClass());
  }

  @Test
  void exceptionsOfUnregisteredClassesArriveAsCallFailed() {
    var back = marshaller.thrown(marshaller.thrown(new Unlisted("why")));
    assertInstanceOf(CallFailed.class, back);
    assertSays(back, "MarshallerTest$Unlisted");
    assertSays(back, "why");
    assertSays(back, "at stoa.front.marshal");
    var caused = marshaller.thrown(marshaller.thrown(new IOException("x", new Unlisted("y"))));
    assertInstanceOf(CallFailed.class, caused);
  }

  @Test
  void longEncodingsAreRefused() {
    var e =
        assertThrows(LimitExceeded.class, () -> marshaller.value(new Pair<>(new byte[2 << 20], 1)));
    assertSays(e, "bytesMax");
    assertThrows(LimitExceeded.class, () -> marshaller.value("x".repeat(2 << 20)));
  }

  @Test
  void chainsThatNestTooDeepAreRefused() {
    Derived head = new Derived(0);
    for (int i = 0; i < 100_000; i++) {
      var next = new Derived(i);
      next.next = head;
      head = next;
    }
    Derived chain = head;
    var e = assertThrows(NotShareable.class, () -> marshaller.value(chain));
    assertSays(e, "nest");
  }

  @Test
  void deeplyImmutableValuesAreNotCopied() {
    assertTrue(marshaller.isValue("x"));
    assertTrue(marshaller.isValue(new Circle(1)));
    assertTrue(marshaller.isValue(new Square(1, "x")));
    assertTrue(marshaller.isValue(Color.GREEN));
    assertTrue(marshaller.isValue(List.of(1, "x", new Circle(2))));
    assertTrue(marshaller.isValue(Instant.EPOCH));
    assertTrue(!marshaller.isValue(new Group(List.of())));
    assertTrue(!marshaller.isValue(new Pair<>(1, 2)));
    assertTrue(!marshaller.isValue(List.of(new ArrayList<>())));
    assertTrue(!marshaller.isValue(new int[0]));
    assertTrue(!marshaller.isValue(new AtomicLong()));
    var circle = new Circle(1);
    assertSame(circle, marshaller.copy(circle));
    var list = new ArrayList<>(List.of(1));
    assertNotSame(list, marshaller.copy(list));
    assertEquals(list, marshaller.copy(list));
  }

  @Test
  void trailingAndMissingBytesAreCorrupt() {
    byte[] bytes = marshaller.value(new Square(1, "abc"));
    assertThrows(Corrupt.class, () -> marshaller.value(Arrays.copyOf(bytes, bytes.length + 1)));
    for (int i = 0; i < bytes.length; i++) {
      int length = i;
      assertThrows(Corrupt.class, () -> marshaller.value(Arrays.copyOf(bytes, length)));
    }
  }
}
