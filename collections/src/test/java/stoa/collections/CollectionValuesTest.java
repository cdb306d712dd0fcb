package stoa.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.LimitExceeded;
import stoa.Mutator;
import stoa.NotShareable;
import stoa.Ref;
import stoa.ShardedMap;
import stoa.Shared;
import stoa.SharedList;
import stoa.SharedMap;
import stoa.SharedQueue;
import stoa.SharedRangeMap;
import stoa.SharedStack;
import stoa.Stoa;
import stoa.collections.CollectionsTest.Cell;
import stoa.collections.CollectionsTest.Color;

/// The keys and values of collections, and functions that compute them.
class CollectionValuesTest {
  private static final Stoa STOA = Stoa.open("memory:");

  @AfterAll
  static void close() {
    STOA.close();
  }

  /// A key with a hash of its own.
  record AnyCase(String text) {
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof AnyCase any && any.text.equalsIgnoreCase(text);
    }

    @Override
    public int hashCode() {
      return text.toLowerCase(java.util.Locale.ROOT).hashCode();
    }
  }

  /// A value without equals.
  static class Bag {
    int things;
  }

  // ---- keys and values

  @Test
  void enumsAndRecordsOfEnumsAreKeys() {
    SharedMap<Cell, String> map = STOA.map("cells", Cell.class, String.class);
    map.put(new Cell(Color.RED, Color.GREEN), "x");
    assertEquals("x", map.get(new Cell(Color.RED, Color.GREEN)));
    assertEquals(
        31 * (31 + "RED".hashCode()) + "GREEN".hashCode(),
        KeyHash.of(new Cell(Color.RED, Color.GREEN)));
  }

  @Test
  void keysHashByPartsWhereverTheyHoldAnEnum() {
    int red = "RED".hashCode();
    assertEquals(red, KeyHash.of(Optional.of(Color.RED)));
    assertEquals(red ^ "a".hashCode(), KeyHash.of(Map.entry("a", Color.RED)));
    assertEquals(red ^ 1, KeyHash.of(new java.util.AbstractMap.SimpleEntry<>(Color.RED, 1)));
    assertEquals(31 + red, KeyHash.of(List.of(Optional.of(Color.RED))));
    assertEquals(red, KeyHash.of(Set.of(Optional.of(Color.RED))));
    assertEquals(red ^ 1, KeyHash.of(Map.of(1, Optional.of(Color.RED))));
    assertEquals(31 + red, KeyHash.of(Optional.of(List.of(Map.of(Color.RED, 0)))));
    assertEquals(31 * 31 + red, KeyHash.of(new Ref<Object>("", Optional.of(Color.RED))));
    assertEquals(31 * 31 + red, KeyHash.of(Optional.of(new Ref<Object>("", Color.RED))));
  }

  @Test
  void keysOfContentsAloneHashAsTheyAlwaysDid() {
    var cell = new Ref<Object>("t", 5);
    for (Object key :
        List.of(
            Optional.of("x"),
            Optional.empty(),
            Map.entry("a", 1),
            Optional.of(cell),
            Map.entry(Optional.of(cell), List.of(cell)),
            java.util.OptionalInt.of(5))) {
      assertEquals(key.hashCode(), KeyHash.of(key), key::toString);
    }
  }

  @Test
  void keysThatHoldAnEnumAreFoundWhenTheStoreIsOpenedAgain(@TempDir Path folder) {
    List<Object> keys =
        List.of(
            Optional.of(Color.RED),
            Map.entry("a", Color.RED),
            List.of(Optional.of(Color.GREEN)),
            Set.of(Color.RED, Color.GREEN),
            Map.of(Color.RED, Optional.of(Color.GREEN)));
    String url = "file:" + folder;
    try (Stoa stoa = Stoa.open(url)) {
      assertTrue(stoa.map("colors", Color.class, Color.class).isEmpty()); // makes the enum known
      for (Object key : keys) {
        stoa.map("m", Object.class, String.class).put(key, key.toString());
        stoa.shardedMap("s", Object.class, String.class, 4).put(key, key.toString());
      }
    }
    try (Stoa stoa = Stoa.open(url)) {
      assertTrue(stoa.map("colors", Color.class, Color.class).isEmpty()); // makes the enum known
      for (Object key : keys) {
        assertEquals(key.toString(), stoa.map("m", Object.class, String.class).get(key));
        assertEquals(key.toString(), stoa.shardedMap("s", Object.class, String.class, 4).get(key));
      }
    }
  }

  @Test
  void refusesKeysThatHoldWhatHashesByAddressBeforeAnythingIsLogged() {
    SharedMap<Object, String> any = STOA.map("by address", Object.class, String.class);
    ShardedMap<Object, String> sharded =
        STOA.shardedMap("by address", Object.class, String.class, 4);
    long before = STOA.history(any).version();
    for (Object held : List.of(new int[1], new Bag(), String.class, new AtomicBoolean())) {
      for (Object key :
          List.of(
              held,
              Optional.of(held),
              Map.entry(1, held),
              Map.entry(held, 1),
              List.of(held),
              Set.of(held),
              Map.of(1, held),
              new Ref<Object>("", held),
              Optional.of(List.of(Map.entry(1, Optional.of(held)))))) {
        assertThrows(NotShareable.class, () -> any.put(key, "x"));
        assertThrows(NotShareable.class, () -> any.putAll(Map.of(key, "x")));
        assertThrows(NotShareable.class, () -> sharded.put(key, "x"));
      }
    }
    assertTrue(any.isEmpty());
    assertTrue(sharded.isEmpty());
    assertEquals(before, STOA.history(any).version());
  }

  @Test
  void textWithHalfOfASurrogatePairIsAKeyAndAValueAsItIs(@TempDir Path folder) {
    String url = "file:" + folder;
    List<String> texts = List.of("\uD800", "?", "\uDC00", "\uD800\uD800", "\uFFFD");
    try (Stoa stoa = Stoa.open(url)) {
      for (String text : texts) {
        stoa.map("m", String.class, String.class).put(text, text + "!");
        stoa.navigableMap("n", String.class, String.class).put(text, text + "!");
        stoa.bTree("t", String.class, String.class).put(text, text + "!");
        stoa.list("l", String.class).add(text);
      }
    }
    try (Stoa stoa = Stoa.open(url)) {
      for (String text : texts) {
        assertEquals(text + "!", stoa.map("m", String.class, String.class).get(text));
        assertEquals(text + "!", stoa.navigableMap("n", String.class, String.class).get(text));
        assertEquals(text + "!", stoa.bTree("t", String.class, String.class).get(text));
      }
      assertEquals(5, stoa.map("m", String.class, String.class).size());
      assertEquals(texts, new ArrayList<>(stoa.list("l", String.class)));
      assertThrows(NotShareable.class, () -> stoa.map("\uD800", String.class, String.class).size());
    }
  }

  @Test
  void aRecordsOwnEqualsDecides() {
    SharedMap<AnyCase, String> map = STOA.map("any case", AnyCase.class, String.class);
    map.put(new AnyCase("Apple"), "x");
    assertEquals("x", map.put(new AnyCase("APPLE"), "y"));
    assertEquals(Set.of(new AnyCase("apple")), map.keySet());
    assertEquals("Apple", map.keySet().iterator().next().text());
  }

  @Test
  void refusesKeysWithoutAStableHash() {
    for (Class<?> type : List.of(byte[].class, Bag.class, Class.class)) {
      assertThrows(NotShareable.class, () -> STOA.map("refused", type, String.class));
    }
    SharedMap<Object, String> any = STOA.map("any", Object.class, String.class);
    assertThrows(NotShareable.class, () -> any.put(new int[1], "x"));
  }

  @Test
  void keysWithOneHashAreApart() {
    SharedMap<String, Integer> map = STOA.map("collide", String.class, Integer.class);
    List<String> keys = List.of("AaAa", "BBBB", "AaBB", "BBAa");
    for (int i = 0; i < 4; i++) map.put(keys.get(i), i);
    assertEquals(1, map.remove("BBBB"));
    assertEquals(Set.of("AaAa", "AaBB", "BBAa"), map.keySet());
    for (String key : keys) map.remove(key);
    assertEquals(0, map.size());
  }

  @Test
  void conditionalWritesCompareArraysByElements() {
    SharedMap<String, byte[]> map = STOA.map("arrays", String.class, byte[].class);
    map.put("k", new byte[] {1});
    map.merge("k", new byte[] {2}, (a, b) -> new byte[] {a[0], b[0]});
    assertEquals(2, Objects.requireNonNull(map.get("k")).length);
  }

  @Test
  void conditionalWritesNeedValuesWithEquals() {
    SharedMap<String, Bag> map = STOA.map("bags", String.class, Bag.class);
    map.put("k", new Bag());
    assertThrows(UnsupportedOperationException.class, () -> map.compute("k", (_, _) -> new Bag()));
  }

  @Test
  void rangesCutEachOther() {
    SharedRangeMap<Long, String> map = STOA.rangeMap("ranges", Long.class, String.class);
    map.put(0L, 100L, "a");
    map.put(20L, 30L, "b");
    map.remove(90L, 200L);
    assertEquals(
        List.of(
            new SharedRangeMap.Range<>(0L, 20L, "a"),
            new SharedRangeMap.Range<>(20L, 30L, "b"),
            new SharedRangeMap.Range<>(30L, 90L, "a")),
        map.ranges());
    assertEquals(
        List.of(
            new SharedRangeMap.Range<>(25L, 30L, "b"), new SharedRangeMap.Range<>(30L, 40L, "a")),
        map.ranges(25L, 40L));
    assertEquals("b", map.get(29L).orElseThrow());
    assertTrue(map.get(90L).isEmpty());
    assertThrows(IllegalArgumentException.class, () -> map.put(3L, 3L, "c"));
  }

  // ---- functions and changed values

  /// A map of each kind.
  private static List<ConcurrentMap<String, List<String>>> maps(Stoa stoa, String name) {
    Class<List<String>> lists = lists();
    return List.of(
        stoa.map(name, String.class, lists),
        stoa.navigableMap(name, String.class, lists),
        stoa.navigableMap(name, String.class, lists).descendingMap(),
        stoa.shardedMap(name, String.class, lists, 3),
        stoa.bTree(name, String.class, lists));
  }

  @SuppressWarnings("unchecked") // Justification: the tests put lists of text only
  private static Class<List<String>> lists() {
    return (Class<List<String>>) (Class<?>) ArrayList.class;
  }

  private static List<String> with(@Nullable List<String> list, String element) {
    List<String> same = list == null ? new ArrayList<>() : list;
    same.add(element);
    return same;
  }

  @Test
  void functionsMayChangeTheValueThatTheyAreGiven(@TempDir Path folder) {
    String url = "file:" + folder;
    try (Stoa stoa = Stoa.open(url)) {
      for (var map : maps(stoa, "changed")) {
        map.clear();
        assertEquals(List.of("a"), map.compute("k", (_, list) -> with(list, "a")));
        assertEquals(List.of("a", "b"), map.compute("k", (_, list) -> with(list, "b")));
        assertEquals(
            List.of("a", "b", "c"), map.computeIfPresent("k", (_, list) -> with(list, "c")));
        assertEquals(
            List.of("a", "b", "c", "d"),
            map.merge(
                "k",
                new ArrayList<>(List.of("d")),
                (list, more) -> {
                  list.addAll(more);
                  more.add("changed, too");
                  return list;
                }));
        map.replaceAll((_, list) -> with(list, "e"));
        assertEquals(Map.of("k", List.of("a", "b", "c", "d", "e")), map);
        assertNull(map.compute("k", (_, list) -> with(list, "f").size() == 6 ? null : list));
        assertTrue(map.isEmpty());
        map.computeIfAbsent("k", _ -> with(null, "z")).add("not shared");
        assertEquals(List.of("z"), map.get("k"));
      }
    }
    try (Stoa stoa = Stoa.open(url)) {
      for (var map : maps(stoa, "changed")) assertEquals(Map.of("k", List.of("z")), map);
    }
  }

  @Test
  void functionsMayChangeTheirValueInTransactionsAndMethods() {
    SharedMap<String, List<String>> map = STOA.map("changed inside", String.class, lists());
    STOA.transact(() -> {
      var _ = map.compute("k", (_, list) -> with(list, "a"));
      var _ = map.merge("k", with(null, "b"), (list, more) -> with(list, more.getFirst()));
      map.replaceAll((_, list) -> with(list, "c"));
      return true;
    });
    assertEquals(List.of("a", "b", "c"), map.get("k"));
    STOA.get(Adder.class, "one").add(map, "d");
    assertEquals(List.of("a", "b", "c", "d", "d"), map.get("k"));
  }

  /// A shared object whose method changes a map.
  @Shared(name = "test.Adder")
  static class Adder {
    @Mutator
    void add(SharedMap<String, List<String>> map, String element) {
      var _ = map.compute("k", (_, list) -> with(list, element));
      map.replaceAll((_, list) -> with(list, element));
    }
  }

  @Test
  void computingBesideOthersLosesNothing() throws Exception {
    SharedMap<String, List<String>> map = STOA.map("computed", String.class, lists());
    var futures = new ArrayList<Future<?>>();
    try (var threads = Executors.newFixedThreadPool(3)) {
      for (int t = 0; t < 3; t++) {
        String name = "thread " + t;
        futures.add(
            threads.submit(() -> {
              for (int i = 0; i < 50; i++) {
                var _ = map.compute("k", (_, list) -> with(list, name));
              }
            }));
      }
    }
    for (Future<?> future : futures) future.get();
    assertEquals(150, Objects.requireNonNull(map.get("k")).size());
  }

  @Test
  void aFunctionThatIsAlwaysOvertakenIsToldWhatToDo() {
    SharedMap<String, Integer> map = STOA.map("overtaken", String.class, Integer.class);
    map.put("k", 0);
    var tries = new AtomicInteger();
    var told =
        assertThrows(
            LimitExceeded.class,
            () ->
                map.compute(
                    "k",
                    (_, value) -> {
                      map.put("k", tries.incrementAndGet());
                      return value;
                    }));
    assertTrue(String.valueOf(told.getMessage()).contains("transaction"), told.getMessage());
    assertEquals(1_000, tries.get());
  }

  @Test
  void aValueThatEqualsNoCopyOfItselfIsNotComputed() {
    SharedMap<String, List<String>> map = STOA.map("no equals", String.class, lists());
    @SuppressWarnings("unchecked") // Justification: anything may be in such a list
    SharedMap<String, List<Object>> any = (SharedMap<String, List<Object>>) (Object) map;
    STOA.map("bag", String.class, Bag.class).put("k", new Bag());
    any.put("k", new ArrayList<>(List.of(new Bag())));
    var refused =
        assertThrows(
            UnsupportedOperationException.class,
            () -> any.computeIfPresent("k", (_, list) -> list));
    assertTrue(String.valueOf(refused.getMessage()).contains("equals"), refused.getMessage());
  }

  @Test
  void whatACallerChangesAfterwardsIsNotShared() {
    for (var map : maps(STOA, "unshared")) {
      List<String> mine = with(null, "a");
      map.put("k", mine);
      mine.add("b");
      Objects.requireNonNull(map.get("k")).add("c");
      Objects.requireNonNull(map.putIfAbsent("k", mine)).add("d");
      for (var entry : map.entrySet()) entry.getValue().add("e");
      assertEquals(Map.of("k", List.of("a")), map);
      STOA.transact(() -> {
        Objects.requireNonNull(map.get("k")).add("f");
        map.values().iterator().next().add("g");
        assertEquals(List.of("a"), map.get("k"));
        return true;
      });
    }
    SharedList<List<String>> list = STOA.list("unshared", lists());
    list.add(with(null, "a"));
    list.getFirst().add("b");
    list.iterator().next().add("c");
    assertEquals(List.of(List.of("a")), list);
    var queue = STOA.queue("unshared", lists());
    Objects.requireNonNull(queue.peek()).add("d");
    assertEquals(List.of("a"), queue.poll());
  }

  @Test
  void listsTakeBackElementsThatWereChangedInPlace() {
    SharedList<List<String>> list = STOA.list("in place", lists());
    list.addAll(List.of(with(null, "a"), with(null, "b"), with(null, "c")));
    list.replaceAll(element -> with(element, "+"));
    var walker = list.listIterator();
    walker.set(with(walker.next(), "!"));
    var _ = walker.next();
    walker.next().add("changed");
    walker.remove();
    assertEquals(List.of(List.of("a", "+", "!"), List.of("b", "+")), list);
    assertTrue(list.removeIf(element -> element.contains("!")));
    assertEquals(List.of(List.of("b", "+")), list);
  }

  @Test
  void elementsAreRemovedByWhatTheOtherCollectionContains() {
    var anyCase = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    anyCase.addAll(List.of("a", "b"));
    SharedList<String> list = STOA.list("ignoring case", String.class);
    SharedQueue<String> queue = STOA.queue("ignoring case", String.class);
    SharedStack<String> stack = STOA.stack("ignoring case", String.class);
    for (Collection<String> each : List.<Collection<String>>of(list, queue, stack)) {
      list.clear();
      list.addAll(List.of("A", "b", "C", "a"));
      assertTrue(each.removeAll(anyCase));
      assertFalse(each.removeAll(anyCase));
      assertEquals(List.of("C"), list);
      list.addAll(List.of("B", "D"));
      assertTrue(each.retainAll(anyCase));
      assertFalse(each.retainAll(anyCase));
      assertEquals(List.of("B"), list);
      assertTrue(each.removeIf(anyCase::contains));
      assertTrue(each.isEmpty());
    }
    for (var map : maps(STOA, "ignoring case")) {
      map.clear();
      for (String key : List.of("A", "b", "C", "D")) map.put(key, with(null, key));
      assertTrue(map.keySet().removeAll(anyCase));
      assertEquals(Set.of("C", "D"), map.keySet());
      assertTrue(
          map.keySet()
              .retainAll(
                  new TreeSet<>(anyCase) {
                    @Override
                    public boolean contains(Object key) {
                      return "C".equals(key);
                    }
                  }));
      assertEquals(Set.of("C"), map.keySet());
      var sameSize =
          new TreeSet<Map.Entry<String, List<String>>>(
              Comparator.comparing(entry -> entry.getKey().toLowerCase(java.util.Locale.ROOT)));
      sameSize.add(Map.entry("c", new ArrayList<>()));
      assertTrue(map.entrySet().removeAll(sameSize));
      assertTrue(map.isEmpty());
    }
  }
}
