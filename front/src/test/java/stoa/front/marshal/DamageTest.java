package stoa.front.marshal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.Ref;
import stoa.Shared;
import stoa.StoaException;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;

/// Damaged bytes, many threads, and states that go through marshalling again and again.
class DamageTest {
  private static final int ROUNDS = Integer.getInteger("stoa.damage.rounds", 8_000);

  enum Level {
    LOW,
    HIGH
  }

  record Point(int x, @Nullable String label, Level level) {}

  static class Odd extends Exception {
    private static final long serialVersionUID = 1L;
    private final Level level;

    Odd(String message, Level level) {
      super(message);
      this.level = level;
    }

    Level level() {
      return level;
    }
  }

  @SuppressWarnings("ReferenceEquality") // Justification: whether self is this is the question
  @Shared(name = "world")
  static class World {
    private final Map<String, Point> points = new HashMap<>();
    private final Map<Level, List<Point>> levels = new EnumMap<>(Level.class);
    private final Set<Level> set = EnumSet.noneOf(Level.class);
    private final TreeMap<Long, Optional<Point>> sorted = new TreeMap<>();
    private final HashSet<Integer> numbers = new HashSet<>();
    private final TreeSet<String> names = new TreeSet<>();
    private final ArrayDeque<Object> queue = new ArrayDeque<>();
    private long[] cells = {1, 2, 3};
    private int[][] grid = {{1}, {2, 3}};
    private @Nullable World other;
    private @Nullable Object self;
    private double ratio = 0.25;
    private String text = "text";

    void fill(Random random, World friend) {
      for (int i = 0; i < 8; i++) {
        var point = new Point(random.nextInt(), "l" + i, Level.HIGH);
        points.put("p" + random.nextInt(100), point);
        levels.computeIfAbsent(Level.LOW, _ -> new ArrayList<>()).add(point);
        sorted.put(random.nextLong(), i % 2 == 0 ? Optional.of(point) : Optional.empty());
        numbers.add(random.nextInt(1000));
        names.add("n" + random.nextInt(50));
      }
      set.add(Level.LOW);
      queue.addAll(List.of(1, "two", new Point(3, null, Level.LOW), Instant.EPOCH, BigDecimal.ONE));
      other = friend;
      self = this;
      cells = new long[] {random.nextLong()};
      grid = new int[][] {{random.nextInt()}};
      ratio = random.nextDouble();
      text = "text" + random.nextInt();
    }

    @Accessor
    String orders() {
      return points.keySet()
          + " "
          + other
          + (self == this)
          + numbers
          + " "
          + text
          + ratio
          + grid.length
          + cells.length;
    }

    void mixed(int n, List<Point> list, @Nullable String name, UUID id, World world, Map<?, ?> m)
        throws Odd {
      if (n < 0) throw new Odd(String.valueOf(name), Level.LOW);
    }
  }

  private final SharedType type = SharedType.of(World.class);
  private final MemoryTypeIds ids = new MemoryTypeIds();
  private final Marshaller marshaller =
      new Marshaller(
          ids,
          new References() {
            @Override
            public @Nullable Reference referenceOf(Object object) {
              Proxied proxied = Proxies.of(object);
              return proxied == null ? null : new Reference(proxied.ref(), 1);
            }

            @Override
            public Object facade(Reference reference, String form) {
              throw new UnsupportedOperationException(form);
            }

            @Override
            public Object resolve(Reference reference) {
              return proxy(reference.ref().key());
            }
          },
          List.of(),
          DamageTest.class.getClassLoader(),
          1 << 20);

  DamageTest() {
    marshaller.register(type);
  }

  private World proxy(Object key) {
    return Proxies.create(type, new Ref<World>("world", key), new Object[0], (p, m, a) -> null);
  }

  private World filled(long seed) {
    var world = new World();
    world.fill(new Random(seed), proxy("friend"));
    return world;
  }

  private SharedMethod mixed() {
    return type.methods().stream().filter(m -> m.name().equals("mixed")).findFirst().orElseThrow();
  }

  private @Nullable Object[] someArguments() {
    return new @Nullable Object[] {
      7,
      List.of(new Point(1, "a", Level.LOW)),
      null,
      new UUID(1, 2),
      proxy("w"),
      new LinkedHashMap<>(Map.of("k", List.of(1L)))
    };
  }

  @Test
  void damagedBytesGiveAnErrorOfOursOrSomeValueAndNothingElse() {
    List<byte[]> whole =
        List.of(
            marshaller.state(type, filled(1)),
            marshaller.arguments(mixed(), someArguments()),
            marshaller.thrown(new Odd("odd", Level.HIGH)),
            marshaller.value(new ArrayList<>(List.of(new Point(1, "x", Level.LOW), "y", 3))),
            marshaller.value("some text"));
    var random = new Random(11);
    int refused = 0;
    for (int i = 0; i < ROUNDS; i++) {
      int which = i % whole.size();
      byte[] bytes = damage(whole.get(which).clone(), random);
      try {
        Object read =
            switch (which) {
              case 0 -> marshaller.state(type, bytes);
              case 1 -> marshaller.arguments(mixed(), bytes);
              case 2 -> marshaller.thrown(bytes);
              default -> marshaller.value(bytes);
            };
        if (which == 0) assertEquals(World.class, read == null ? null : read.getClass());
      } catch (StoaException e) {
        refused++;
      }
      if (i % 100 < 2) assertGood(whole);
    }
    assertTrue(refused > ROUNDS / 4, "only " + refused + " were refused");
    assertGood(whole);
  }

  /// The marshaller is as good as new.
  private void assertGood(List<byte[]> whole) {
    byte[] state = whole.getFirst();
    assertArrayEquals(state, marshaller.state(type, marshaller.state(type, state)));
    byte[] arguments = whole.get(1);
    assertArrayEquals(
        arguments, marshaller.arguments(mixed(), marshaller.arguments(mixed(), arguments)));
    assertEquals("odd", marshaller.thrown(whole.get(2)).getMessage());
  }

  private static byte[] damage(byte[] bytes, Random random) {
    int start = random.nextInt(8) == 0 ? 0 : 1; // mostly keep the format byte
    if (bytes.length == start) return bytes;
    for (int n = 1 + random.nextInt(4); n > 0; n--) {
      int at = start + random.nextInt(bytes.length - start);
      switch (random.nextInt(4)) {
        case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
        case 1 -> bytes[at] = (byte) random.nextInt(256);
        case 2 -> bytes[at] = (byte) 0xFF;
        default -> Arrays.fill(bytes, at, Math.min(bytes.length, at + 5), (byte) 0x7F);
      }
    }
    return random.nextInt(6) == 0 ? Arrays.copyOf(bytes, random.nextInt(bytes.length)) : bytes;
  }

  @Test
  void randomBytesGiveAnErrorOfOurs() {
    var random = new Random(12);
    byte[] formats = {0x01, 0x10, 0x13, 0x16, 0x1F, 0x20, 0x30, 0x31};
    for (int i = 0; i < ROUNDS; i++) {
      byte[] bytes = new byte[random.nextInt(64)];
      random.nextBytes(bytes);
      if (bytes.length > 0) bytes[0] = formats[i % formats.length];
      for (Runnable read :
          List.<Runnable>of(
              () -> marshaller.value(bytes),
              () -> marshaller.state(type, bytes),
              () -> marshaller.thrown(bytes),
              () -> marshaller.arguments(mixed(), bytes))) {
        try {
          read.run();
        } catch (StoaException e) {
          assertTrue(e.getMessage() != null);
        }
      }
    }
  }

  @Test
  void aDecodedStateEncodesToTheSameBytesAndIteratesInTheSameOrder() {
    for (long seed = 0; seed < 50; seed++) {
      World world = filled(seed);
      var random = new Random(seed);
      // Grown and shrunk: the live map has another capacity than one that is read back.
      for (int i = 0; i < 1000; i++) world.numbers.add(i);
      for (int i = 0; i < 1000; i++) if (random.nextInt(20) != 0) world.numbers.remove(i);
      byte[] first = marshaller.state(type, world);
      World once = (World) marshaller.state(type, first);
      World twin = (World) marshaller.state(type, first);
      assertEquals(once.orders(), twin.orders());
      byte[] second = marshaller.state(type, once);
      World twice = (World) marshaller.state(type, second);
      assertEquals(once.orders(), twice.orders());
      assertArrayEquals(second, marshaller.state(type, twice));
      assertEquals(world.numbers, twice.numbers);
    }
  }

  @Test
  void manyThreadsMarshalWhileTypesAreRegistered() throws Exception {
    byte[] expected = marshaller.state(type, filled(5));
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var results = new ArrayList<Future<@Nullable Void>>();
      for (int t = 0; t < 64; t++) {
        int number = t;
        Callable<@Nullable Void> work =
            () -> {
              for (int i = 0; i < 20; i++) {
                if (number == 7 && i == 10) marshaller.register(SharedType.of(Later.class));
                byte[] bytes = marshaller.state(type, filled(5));
                assertArrayEquals(expected, bytes);
                assertArrayEquals(expected, marshaller.state(type, marshaller.state(type, bytes)));
              }
              return null;
            };
        results.add(threads.submit(work));
      }
      for (var result : results) result.get();
    } catch (ExecutionException e) {
      throw new AssertionError(e.getCause());
    }
    assertEquals(new Later.Value(3), marshaller.value(marshaller.value(new Later.Value(3))));
  }

  @Shared
  static class Later {
    record Value(int n) {}

    Value value() {
      return new Value(1);
    }
  }

  @Test
  void bigCollectionsComeBack() {
    var list = new ArrayList<Long>();
    for (long i = 0; i < 50_000; i++) list.add(i * i);
    assertEquals(list, marshaller.value(marshaller.value(list)));
    var nulls = new ArrayList<@Nullable Object>(java.util.Collections.nCopies(100_000, null));
    assertEquals(nulls, marshaller.value(marshaller.value(nulls)));
    var map = new HashMap<String, Integer>();
    for (int i = 0; i < 20_000; i++) map.put("key" + i, i);
    assertEquals(map, marshaller.value(marshaller.value(map)));
    Object bytes = new byte[500_000];
    assertArrayEquals((byte[]) bytes, (byte[]) marshaller.value(marshaller.value(bytes)));
    var text = "é".repeat(100_000);
    assertEquals(text, marshaller.value(marshaller.value(text)));
  }
}
