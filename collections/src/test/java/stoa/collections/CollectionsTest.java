package stoa.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.Spliterator;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Blob;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.Mutator;
import stoa.NotShareable;
import stoa.Ref;
import stoa.ShardedMap;
import stoa.Shared;
import stoa.SharedBTree;
import stoa.SharedList;
import stoa.SharedMap;
import stoa.SharedNavigableMap;
import stoa.SharedQueue;
import stoa.SharedRangeMap;
import stoa.SharedStack;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Transaction;
import stoa.TxOptions;
import stoa.View;

class CollectionsTest {
  private static final Stoa STOA = Stoa.open("memory:");

  @AfterAll
  static void close() {
    STOA.close();
  }

  /// A value of the program.
  record Item(String name, int price) {}

  /// A key that hashes by an enum.
  record Cell(Color color, Object place) {}

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

  /// An enum whose constants hash by address.
  enum Color {
    RED,
    GREEN
  }

  /// A value without equals.
  static class Bag {
    int things;
  }

  /// An order of the program.
  static final class Longest implements Comparator<String> {
    @Override
    public int compare(String a, String b) {
      return a.length() != b.length() ? b.length() - a.length() : a.compareTo(b);
    }
  }

  /// A shared object with collections in its fields.
  @Shared(name = "test.Shop")
  static class Shop {
    private @Nullable SharedMap<String, Item> stock;
    private @Nullable SharedQueue<String> orders;

    protected Shop() {}

    void open(SharedMap<String, Item> with, SharedQueue<String> from) {
      stock = with;
      orders = from;
    }

    @Nullable Item serve() {
      String next = Objects.requireNonNull(orders).poll();
      return next == null ? null : Objects.requireNonNull(stock).remove(next);
    }

    @Accessor
    @Nullable SharedMap<String, Item> stock() {
      return stock;
    }
  }

  // ---- keeping

  /// Holds collections that nobody has begun.
  @Shared(name = "test.Shelf")
  static class Shelf {
    private @Nullable SharedNavigableMap<String, Integer> map;
    private @Nullable SharedList<String> list;
    private final Map<String, Object> others = new TreeMap<>();

    void keep(SharedNavigableMap<String, Integer> newMap, SharedList<String> newList) {
      map = newMap;
      list = newList;
    }

    void fill(List<String> names) {
      for (String name : names) {
        Objects.requireNonNull(map).put(name, name.length());
        Objects.requireNonNull(list).add(name);
      }
    }

    @Accessor
    SharedNavigableMap<String, Integer> map() {
      return Objects.requireNonNull(map);
    }

    void other(String name, Object other) {
      others.put(name, other);
    }
  }

  @Test
  void aMethodBeginsACollectionWithTheOrderAndTheClassesOfItsReference() {
    Shelf shelf = STOA.get(Shelf.class, "begins");
    var map = STOA.navigableMap("shelf.map", String.class, Integer.class, Longest.class);
    SharedList<String> list = STOA.list("shelf.list", String.class);
    shelf.keep(map, list);
    shelf.fill(List.of("a", "ccc", "bb"));
    assertEquals(List.of("ccc", "bb", "a"), List.copyOf(map.keySet()));
    assertEquals(List.of("a", "ccc", "bb"), list);
    assertEquals(map, shelf.map());
    assertThrows(IllegalArgumentException.class, () -> STOA.list("shelf.list", Integer.class));
    assertThrows(
        IllegalArgumentException.class,
        () -> STOA.navigableMap("shelf.map", String.class, Integer.class));
    assertTrue(STOA.delete(shelf.map()));
    assertEquals(
        Map.of(), STOA.navigableMap("shelf.map", String.class, Integer.class, Longest.class));
  }

  @Test
  @SuppressWarnings("rawtypes") // Justification: a class of elements has no parameters
  void holdsCollectionsBlobsAndReferences() {
    SharedList<String> inner = STOA.list("held.inner", String.class);
    inner.add("x");
    SharedMap<String, SharedList> lists = STOA.map("held.lists", String.class, SharedList.class);
    lists.put("a", inner);
    assertEquals(List.of("x"), lists.get("a"));
    SharedMap<String, Ref> refs = STOA.map("held.refs", String.class, Ref.class);
    refs.put("a", STOA.ref(inner));
    assertEquals(STOA.ref(inner), refs.get("a"));
    SharedList<Blob> blobs = STOA.list("held.blobs", Blob.class);
    Blob blob = STOA.get(Blob.class, "held");
    blobs.add(blob);
    assertEquals(STOA.ref(blob), STOA.ref(blobs.getFirst()));
    Shelf shelf = STOA.get(Shelf.class, "holds");
    shelf.other("lists", lists);
    shelf.other("refs", refs);
    shelf.other("blobs", blobs);
  }

  @Test
  void aListOfManyPagesIsIteratedInBothDirections() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var expected = new java.util.ArrayList<Integer>();
      for (int i = 0; i < 3_000; i++) expected.add(i);
      var list = stoa.list("many", Integer.class);
      list.addAll(expected);
      assertEquals(expected, new java.util.ArrayList<>(list));
      var backwards = new java.util.ArrayList<Integer>();
      stoa.stack("many", Integer.class).iterator().forEachRemaining(backwards::add);
      assertEquals(expected.reversed(), backwards);
    }
  }

  @Test
  void everythingIsThereWhenTheStoreIsOpenedAgain(@TempDir Path folder) {
    String url = "file:" + folder;
    try (Stoa stoa = Stoa.open(url)) {
      stoa.map("m", String.class, Item.class).put("a", new Item("apple", 1));
      stoa.navigableMap("n", String.class, Item.class, Longest.class)
          .putAll(Map.of("x", new Item("x", 1), "long", new Item("long", 2)));
      stoa.rangeMap("r", Long.class, String.class).put(1L, 5L, "v");
      stoa.list("l", Item.class).addAll(List.of(new Item("one", 1), new Item("two", 2)));
      stoa.shardedMap("s", Color.class, Integer.class, 4).put(Color.GREEN, 2);
      var tree = new TreeMap<Integer, String>();
      for (int i = 0; i < 300; i++) tree.put(i, "v" + i);
      stoa.bTree("t", Integer.class, String.class).putAll(tree);
    }
    try (Stoa stoa = Stoa.open(url)) {
      assertEquals(Map.of("a", new Item("apple", 1)), stoa.map("m", String.class, Item.class));
      var sorted = stoa.navigableMap("n", String.class, Item.class, Longest.class);
      assertEquals(List.of("long", "x"), new ArrayList<>(sorted.keySet()));
      assertThrows(
          IllegalArgumentException.class, () -> stoa.navigableMap("n", String.class, Item.class));
      assertEquals("v", stoa.rangeMap("r", Long.class, String.class).get(4L).orElseThrow());
      assertEquals(new Item("two", 2), stoa.stack("l", Item.class).peek());
      assertEquals(2, stoa.shardedMap("s", Color.class, Integer.class, 4).get(Color.GREEN));
      assertThrows(
          IllegalArgumentException.class,
          () -> stoa.shardedMap("s", Color.class, Integer.class, 5));
      assertEquals(300, stoa.bTree("t", Integer.class, String.class).size());
    }
  }

  @Test
  void anObjectWithCollectionsInItsFieldsComesBackByItself(@TempDir Path folder) {
    String url = "file:" + folder;
    try (Stoa stoa = Stoa.open(url)) {
      SharedMap<String, Item> stock = stoa.map("stock", String.class, Item.class);
      stock.put("pear", new Item("pear", 3));
      stock.put("plum", new Item("plum", 4));
      SharedQueue<String> orders = stoa.queue("orders", String.class);
      orders.add("pear");
      orders.add("plum");
      Shop shop = stoa.get(Shop.class, "corner");
      shop.open(stock, orders);
      assertEquals(new Item("pear", 3), shop.serve());
      assertEquals(Map.of("plum", new Item("plum", 4)), stock);
    }
    try (Stoa stoa = Stoa.open(url)) {
      Shop shop = stoa.get(Shop.class, "corner");
      assertEquals(Map.of("plum", new Item("plum", 4)), shop.stock());
      assertEquals(new Item("plum", 4), shop.serve());
      assertNull(shop.serve());
      assertTrue(Objects.requireNonNull(shop.stock()).isEmpty());
    }
  }

  @Test
  void largeMapsPassThroughCheckpoints(@TempDir Path folder) {
    String url = "file:" + folder;
    String text = "x".repeat(1_000);
    try (Stoa stoa = Stoa.open(url)) {
      var map = stoa.map("large", Integer.class, String.class);
      for (int part = 0; part < 20; part++) {
        var some = new TreeMap<Integer, String>();
        for (int i = 0; i < 250; i++) some.put(part * 250 + i, text + i);
        map.putAll(some);
      }
    }
    try (Stoa stoa = Stoa.open(url)) {
      var map = stoa.map("large", Integer.class, String.class);
      assertEquals(5_000, map.size());
      assertEquals(text + 249, map.get(4_999));
      int seen = 0;
      for (String value : map.values()) {
        assertTrue(value.startsWith(text));
        seen++;
      }
      assertEquals(5_000, seen);
    }
  }

  // ---- views

  @Test
  void aListAQueueAndAStackAreOneObject() {
    SharedList<String> list = STOA.list("views", String.class);
    var queue = STOA.queue("views", String.class);
    var stack = STOA.stack("views", String.class);
    queue.add("a");
    stack.push("b");
    list.add("c");
    assertEquals(List.of("a", "b", "c"), list);
    assertEquals("c", stack.peek());
    assertEquals("a", queue.peek());
    assertEquals(List.of("c", "b", "a"), new ArrayList<>(stack));
    assertEquals("c", stack.pop());
    assertEquals("a", queue.poll());
    assertEquals(List.of("b"), list);
    assertEquals(STOA.ref(list), STOA.ref(queue));
  }

  @Test
  void aListIsSeenAsAQueueAndAStackThroughEveryView() {
    SharedList<String> list = STOA.list("seen", String.class);
    list.addAll(List.of("a", "b"));
    var ref = STOA.ref(list);
    var before = STOA.snapshot();
    list.add("c");
    var now = STOA.history(list).entries(1, 2).getLast().address();
    list.add("d");
    for (View live : List.of(new View.Remote(), new View.Local())) {
      assertEquals("a", STOA.view(SharedQueue.class, ref, live).peek());
      assertEquals("d", STOA.view(SharedStack.class, ref, live).peek());
      assertEquals(List.of("a", "b", "c", "d"), STOA.view(SharedList.class, ref, live));
    }
    @SuppressWarnings("unchecked") // Justification: the list holds text
    SharedStack<String> cached = STOA.view(SharedStack.class, ref, new View.Cached());
    cached.push("e");
    assertEquals("e", cached.peek());
    assertEquals("e", list.removeLast());
    for (View past :
        List.of(
            new View.AtVersion(1),
            new View.AtAddress(before.address()),
            new View.AtSnapshot(before))) {
      assertEquals("b", STOA.view(SharedStack.class, ref, past).peek());
      SharedQueue<?> queue = STOA.view(SharedQueue.class, ref, past);
      assertEquals(List.of("a", "b"), new ArrayList<>(queue));
      assertThrows(UnsupportedOperationException.class, queue::clear);
    }
    assertEquals(List.of("a", "b", "c"), STOA.view(SharedList.class, ref, new View.AtAddress(now)));
    var map = STOA.map("seen", String.class, String.class);
    assertThrows(
        IllegalArgumentException.class,
        () -> STOA.view(SharedQueue.class, STOA.ref(map), new View.Remote()));
  }

  @Test
  void mapsAreSeenThroughViewsWithTheirClassesAndOrders() {
    var map = STOA.map("seen", Cell.class, Integer.class);
    map.put(new Cell(Color.RED, "x"), 1);
    assertEquals(map, STOA.view(SharedMap.class, STOA.ref(map), new View.Local()));
    var sorted = STOA.navigableMap("seen", String.class, Integer.class, Longest.class);
    sorted.putAll(Map.of("a", 1, "long", 2));
    SharedNavigableMap<?, ?> seen =
        STOA.view(SharedNavigableMap.class, STOA.ref(sorted), new View.Local());
    assertEquals("long", seen.firstKey());
    assertEquals(List.of("long", "a"), new ArrayList<>(seen.keySet()));
    var ranges = STOA.rangeMap("seen", Long.class, String.class);
    ranges.put(1L, 5L, "v");
    SharedRangeMap<?, ?> rangesSeen =
        STOA.view(SharedRangeMap.class, STOA.ref(ranges), new View.Local());
    assertEquals(ranges, rangesSeen);
  }

  @Test
  void aComposedCollectionIsSeenLiveAndWhereTheLogWas() {
    var sharded = STOA.shardedMap("seen", String.class, Integer.class, 4);
    var tree = STOA.bTree("seen", String.class, Integer.class);
    for (String key : List.of("a", "b", "c")) {
      sharded.put(key, 1);
      tree.put(key, 1);
    }
    var then = STOA.snapshot();
    sharded.clear();
    tree.clear();
    Map<Ref<?>, Class<?>> both =
        Map.of(STOA.ref(sharded), ShardedMap.class, STOA.ref(tree), SharedBTree.class);
    both.forEach((ref, type) -> {
      var live = (Map<?, ?>) STOA.view(type, ref, new View.Remote());
      assertTrue(live.isEmpty());
      for (View past : List.of(new View.AtAddress(then.address()), new View.AtSnapshot(then))) {
        assertEquals(Map.of("a", 1, "b", 1, "c", 1), STOA.view(type, ref, past));
      }
      for (View near : List.of(new View.Local(), new View.Cached())) {
        assertTrue(((Map<?, ?>) STOA.view(type, ref, near)).isEmpty());
      }
      View none = new View.AtVersion(1);
      var refused =
          assertThrows(UnsupportedOperationException.class, () -> STOA.view(type, ref, none));
      assertTrue(String.valueOf(refused.getMessage()).contains(type.getSimpleName()));
    });
  }

  @SuppressWarnings("unchecked")
  private static List<Map<Integer, Integer>> nearViews(Map<Integer, Integer> map, Class<?> type) {
    var views = new ArrayList<Map<Integer, Integer>>();
    for (View near : List.of(new View.Local(), new View.Cached())) {
      views.add((Map<Integer, Integer>) STOA.view(type, STOA.ref(map), near));
    }
    return views;
  }

  @Test
  void copiesOfSeveralObjectsFollowThem() {
    Map<Class<?>, Map<Integer, Integer>> both =
        Map.of(
            ShardedMap.class, STOA.shardedMap("near", Integer.class, Integer.class, 4),
            SharedBTree.class, STOA.bTree("near", Integer.class, Integer.class));
    both.forEach((type, live) -> {
      var views = nearViews(live, type);
      for (int i = 0; i < 150; i++) {
        live.put(i * 37 % 150, i);
        for (var view : views) assertEquals(i, view.get(i * 37 % 150));
      }
      for (var view : views) {
        assertEquals(live, view);
        assertEquals(150, view.size());
        assertEquals(live.hashCode(), view.hashCode());
        assertTrue(view.containsValue(7));
      }
      for (int i = 0; i < 140; i++) assertNotNull(live.remove(i));
      for (var view : views) {
        assertEquals(live, view);
        assertEquals(10, view.size());
        assertNull(view.put(1, 1));
        assertEquals(1, view.get(1));
        assertEquals(1, live.remove(1));
      }
      live.clear();
      for (var view : views) assertTrue(view.isEmpty());
    });
  }

  @Test
  void copiesOfSeveralObjectsShowOneMoment() throws Exception {
    int keys = 100;
    Map<Class<?>, Map<Integer, Integer>> both =
        Map.of(
            ShardedMap.class, STOA.shardedMap("moment", Integer.class, Integer.class, 4),
            SharedBTree.class, STOA.bTree("moment", Integer.class, Integer.class));
    for (var each : both.entrySet()) {
      Map<Integer, Integer> live = each.getValue();
      for (int i = 0; i < keys; i++) live.put(i, 10);
      var reading = new java.util.concurrent.atomic.AtomicBoolean(true);
      var moves = new java.util.concurrent.atomic.AtomicInteger();
      Thread mover =
          Thread.startVirtualThread(() -> {
            for (int i = 0; reading.get(); i++) {
              int from = i * 7 % keys;
              int to = (i * 31 + 1) % keys;
              if (from == to) continue;
              var _ =
                  STOA.transact(() -> {
                    live.merge(from, -1, Integer::sum);
                    return live.merge(to, 1, Integer::sum);
                  });
              moves.incrementAndGet();
            }
          });
      try {
        for (var view : nearViews(live, each.getKey())) {
          int before = moves.get();
          while (moves.get() < before + 20) {
            int sum = 0;
            for (int value : view.values()) sum += value;
            assertEquals(10 * keys, sum);
            assertEquals(keys, view.size());
          }
        }
      } finally {
        reading.set(false);
        mover.join();
      }
    }
  }

  @Test
  void aCollectionKeepsTheClassesThatItWasBegunWith(@TempDir Path folder) {
    String url = "file:" + folder;
    try (Stoa stoa = Stoa.open(url)) {
      stoa.map("m", String.class, Integer.class).put("a", 1);
      stoa.navigableMap("m", String.class, Integer.class).put("a", 1);
      stoa.rangeMap("m", String.class, Integer.class).put("a", "b", 1);
      stoa.list("m", String.class).add("a");
      stoa.shardedMap("m", String.class, Integer.class, 2).put("a", 1);
      stoa.bTree("m", String.class, Integer.class).put("a", 1);
    }
    try (Stoa stoa = Stoa.open(url)) {
      refused("m", () -> stoa.map("m", String.class, Long.class));
      refused("m", () -> stoa.navigableMap("m", String.class, Long.class));
      refused("m", () -> stoa.rangeMap("m", String.class, Long.class));
      refused("m", () -> stoa.shardedMap("m", String.class, Long.class, 2));
      refused("m", () -> stoa.bTree("m", String.class, Long.class));
      var queue = refused("m", () -> stoa.queue("m", Long.class));
      assertEquals(
          "m was begun with java.lang.String, not with java.lang.Long; open it with the classes"
              + " that it was begun with",
          queue.getMessage());
      assertEquals(1, stoa.map("m", String.class, Integer.class).get("a"));
      assertEquals("a", stoa.stack("m", String.class).peek());
      assertEquals(1, stoa.bTree("m", String.class, Integer.class).get("a"));
    }
  }

  private static IllegalArgumentException refused(String name, Executable opening) {
    var refused = assertThrows(IllegalArgumentException.class, opening);
    assertTrue(String.valueOf(refused.getMessage()).startsWith(name + " was begun with "));
    assertTrue(String.valueOf(refused.getMessage()).contains("java.lang.Long"));
    return refused;
  }

  @Test
  void aClassThatWasRenamedDoesNotLockItsCollection() {
    try (Stoa stoa = Stoa.open("memory:")) {
      stoa.get(ListObject.class, "renamed", "gone.Item").add("a");
      assertEquals("a", stoa.queue("renamed", String.class).peek());
      assertEquals(
          "a",
          stoa.view(
                  SharedQueue.class,
                  stoa.ref(stoa.queue("renamed", String.class)),
                  new View.Remote())
              .peek());
    }
  }

  @Test
  void streamsOfASortedMapKnowItsOrder() {
    var map = STOA.navigableMap("streamed", String.class, Integer.class, Longest.class);
    map.putAll(Map.of("a", 1, "b", 2, "long", 3));
    int sorted = Spliterator.ORDERED | Spliterator.SORTED | Spliterator.DISTINCT;
    assertTrue(map.keySet().spliterator().hasCharacteristics(sorted));
    assertTrue(map.entrySet().spliterator().hasCharacteristics(sorted));
    assertTrue(map.values().spliterator().hasCharacteristics(Spliterator.ORDERED));
    assertFalse(map.values().spliterator().hasCharacteristics(Spliterator.SORTED));
    var entries = Objects.requireNonNull(map.entrySet().spliterator().getComparator());
    assertTrue(entries.compare(Map.entry("long", 0), Map.entry("a", 9)) < 0);
    var backwards = map.descendingMap().entrySet().spliterator().getComparator();
    assertTrue(
        Objects.requireNonNull(backwards).compare(Map.entry("long", 0), Map.entry("a", 9)) > 0);
    assertEquals(List.of(3, 1, 2), map.values().parallelStream().toList());
    var plain = STOA.navigableMap("streamed 2", String.class, Integer.class);
    assertNull(plain.keySet().spliterator().getComparator());
    assertFalse(
        STOA.map("streamed", String.class, Integer.class)
            .entrySet()
            .spliterator()
            .hasCharacteristics(Spliterator.ORDERED));
  }

  @Test
  void messagesSpeakOfWhatAProgramKnows() {
    var tree = STOA.bTree("messages", String.class, Integer.class);
    var sharded = STOA.shardedMap("messages", String.class, Integer.class, 2);
    var history = assertThrows(UnsupportedOperationException.class, () -> STOA.history(tree));
    assertTrue(String.valueOf(history.getMessage()).startsWith("SharedBTree is composed"));
    var key = assertThrows(NotShareable.class, () -> KeyHash.of(sharded));
    assertTrue(String.valueOf(key.getMessage()).startsWith("a ShardedMap is no key"));
    var map = STOA.map("messages", String.class, Integer.class);
    map.put("a", 1);
    var past = STOA.history(map).at(1);
    var written = assertThrows(UnsupportedOperationException.class, () -> past.put("b", 2));
    assertFalse(String.valueOf(written.getMessage()).contains("stoa.collections"));
  }

  @Test
  void aStackIsADequeFromItsTop() {
    var stack = STOA.stack("deque", String.class);
    stack.addAll(List.of("b", "c"));
    stack.push("a");
    stack.offerLast("d");
    assertEquals(List.of("a", "b", "c", "d"), new ArrayList<>(stack));
    assertEquals("d", stack.pollLast());
    assertTrue(stack.removeLastOccurrence("c"));
    var down = stack.descendingIterator();
    assertEquals("b", down.next());
    down.remove();
    assertEquals(List.of("a"), new ArrayList<>(stack));
  }

  @Test
  void theHistoryOfACollectionIsACollection() {
    SharedMap<String, Integer> map = STOA.map("past", String.class, Integer.class);
    map.put("a", 1);
    long version = STOA.history(map).version();
    map.put("a", 2);
    map.put("b", 3);
    SharedMap<String, Integer> past = STOA.history(map).at(version);
    assertEquals(Map.of("a", 1), past);
    assertThrows(UnsupportedOperationException.class, () -> past.put("c", 1));
    var tree = STOA.bTree("past", String.class, Integer.class);
    assertThrows(UnsupportedOperationException.class, () -> STOA.history(tree));
  }

  @Test
  void contentsDecideEquality() {
    var one = STOA.map("equal 1", String.class, Integer.class);
    var other = STOA.shardedMap("equal 2", String.class, Integer.class, 3);
    one.put("a", 1);
    other.put("a", 1);
    assertEquals(one, other);
    assertEquals(other, one);
    assertEquals(one.hashCode(), other.hashCode());
    assertNotEquals(STOA.ref(one), STOA.ref(other));
  }

  // ---- iteration

  @Test
  void anIteratorShowsOneVersionOfAMap() {
    SharedMap<Integer, Integer> map = STOA.map("iterated", Integer.class, Integer.class);
    var all = new TreeMap<Integer, Integer>();
    for (int i = 0; i < 2_000; i++) all.put(i, i);
    map.putAll(all);
    var seen = new TreeMap<Integer, Integer>();
    for (var entry : map.entrySet()) {
      seen.put(entry.getKey(), entry.getValue());
      if (seen.size() == 100) map.clear();
      if (seen.size() == 101) map.put(5_000, 5_000);
    }
    assertEquals(all, seen);
    assertEquals(Map.of(5_000, 5_000), map);
  }

  @Test
  void aMapOfManyEntriesIsReplacedByItsOwnIterators() {
    for (var map : counted(STOA, "replaced", 2_500)) {
      map.replaceAll((_, value) -> value + 1);
      for (var entry : map.entrySet()) entry.setValue(entry.getValue() + 1);
      int wrong = 0;
      for (var entry : map.entrySet()) if (entry.getValue() != entry.getKey() + 2) wrong++;
      assertEquals(0, wrong);
      assertEquals(2_500, map.size());
      for (var keys = map.keySet().iterator(); keys.hasNext(); keys.remove()) keys.next();
      assertTrue(map.isEmpty());
    }
  }

  /// Single and composed maps, from numbers to themselves.
  private static List<ConcurrentMap<Integer, Integer>> counted(Stoa stoa, String name, int size) {
    var all = new TreeMap<Integer, Integer>();
    for (int i = 0; i < size; i++) all.put(i, i);
    List<ConcurrentMap<Integer, Integer>> maps =
        List.of(
            stoa.map(name, Integer.class, Integer.class),
            stoa.navigableMap(name, Integer.class, Integer.class).descendingMap(),
            stoa.shardedMap(name, Integer.class, Integer.class, 2));
    for (var map : maps) map.putAll(all);
    return maps;
  }

  @Test
  void anIteratorReadsOnWhenItsVersionWasReleased() {
    SharedMap<Integer, Integer> map = STOA.map("released", Integer.class, Integer.class);
    SharedList<Integer> list = STOA.list("released", Integer.class);
    var all = new TreeMap<Integer, Integer>();
    for (int i = 0; i < 600; i++) all.put(i, i);
    map.putAll(all);
    list.addAll(all.keySet());
    var stack = STOA.stack("released", Integer.class);
    View local = new View.Local();
    View cached = new View.Cached();
    List<Iterator<?>> iterators = new ArrayList<>();
    for (Collection<?> each :
        List.of(
            map.keySet(),
            map.values(),
            list,
            stack,
            STOA.view(SharedMap.class, STOA.ref(map), local).keySet(),
            STOA.view(SharedList.class, STOA.ref(list), cached))) {
      iterators.add(each.iterator());
      iterators.add(each.stream().iterator());
    }
    for (Iterator<?> each : iterators) assertNotNull(each.next());
    for (int i = 0; i < 4_000; i++) {
      map.fastPut(i % 7, -1);
      list.set(i % 7, -1);
    }
    // Below what the first page holds, nothing has to be read again; behind it, all is as it was.
    for (Iterator<?> each : iterators) {
      int rest = 0;
      while (each.hasNext()) {
        assertTrue((Integer) each.next() >= 0);
        rest++;
      }
      assertEquals(599, rest);
    }
  }

  @Test
  void allOfAMapIsReplacedOrNothing() {
    for (var map : counted(STOA, "half", 700)) {
      var before = new TreeMap<>(map);
      assertThrows(
          ArithmeticException.class,
          () -> map.replaceAll((key, value) -> value / (key == 350 ? 0 : 1) + 1));
      assertEquals(before, map);
    }
  }

  @Test
  void anIteratorOfAListSaysWhenItsElementWasMoved() {
    SharedList<String> list = STOA.list("moved", String.class);
    list.addAll(List.of("a", "b", "c"));
    var elements = list.iterator();
    assertEquals("a", elements.next());
    list.addFirst("z");
    assertThrows(java.util.ConcurrentModificationException.class, elements::remove);
    assertEquals("b", elements.next());
    assertEquals(List.of("z", "a", "b", "c"), list);
  }

  @Test
  void pagesShrinkWhenEntriesAreLarge() {
    SharedMap<Integer, byte[]> map = STOA.map("bulky", Integer.class, byte[].class);
    for (int i = 0; i < 12; i++) map.fastPut(i, new byte[1 << 20]);
    int seen = 0;
    for (byte[] value : map.values()) {
      assertEquals(1 << 20, value.length);
      seen++;
    }
    assertEquals(12, seen);
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

  // ---- together

  @Test
  void collectionsTakePartInTransactions() {
    SharedMap<String, Integer> map = STOA.map("tx", String.class, Integer.class);
    SharedList<String> list = STOA.list("tx", String.class);
    STOA.transact(() -> {
      map.put("a", 1);
      list.add("a");
      assertEquals(1, map.size());
      return true;
    });
    assertThrows(
        IllegalStateException.class,
        () ->
            STOA.transact(() -> {
              map.put("b", 2);
              list.clear();
              assertEquals(Set.of("a", "b"), Set.copyOf(map.keySet()));
              throw new IllegalStateException("back");
            }));
    assertEquals(Map.of("a", 1), map);
    assertEquals(List.of("a"), list);
  }

  @Test
  void aSnapshotShowsCollectionsAsTheyWere() {
    var map = STOA.shardedMap("snap", Integer.class, String.class, 4);
    var tree = STOA.bTree("snap", Integer.class, String.class);
    var list = STOA.list("snap", String.class);
    for (int i = 0; i < 100; i++) {
      map.put(i, "a" + i);
      tree.put(i, "a" + i);
    }
    list.add("a");
    var before = new TreeMap<>(map);
    try (var snapshot = STOA.snapshot()) {
      map.clear();
      tree.headMap(90).clear();
      list.add("b");
      assertEquals(before, snapshot.on(map));
      assertEquals(100, snapshot.on(map).size());
      assertEquals(before, snapshot.on(tree));
      assertEquals("a7", snapshot.on(tree).get(7));
      assertEquals(List.of("a"), snapshot.on(list));
      assertThrows(UnsupportedOperationException.class, () -> snapshot.on(tree).remove(7));
      assertThrows(UnsupportedOperationException.class, () -> snapshot.on(map).put(1, "x"));
    }
    assertEquals(0, map.size());
    assertEquals(10, tree.size());
  }

  @Test
  void aTransactionThatTheProgramHoldsSeesAndChangesComposedCollections() {
    var map = STOA.shardedMap("held", Integer.class, String.class, 4);
    var tree = STOA.bTree("held", Integer.class, String.class);
    try (var transaction = STOA.begin(TxOptions.STANDARD)) {
      for (int i = 0; i < 200; i++) transaction.on(tree).put(i, "v");
      transaction.on(map).putAll(Map.of(1, "one", 2, "two"));
      assertEquals(200, transaction.on(tree).size());
      assertEquals(2, transaction.on(map).size());
      assertEquals(0, map.size());
      assertTrue(transaction.commit() instanceof Transaction.Outcome.Committed);
    }
    assertEquals(200, tree.size());
    assertEquals(Map.of(1, "one", 2, "two"), map);
  }

  @Test
  void aListIsSortedAndFilteredAtOnce() {
    SharedList<String> list = STOA.list("sorted", String.class);
    list.addAll(List.of("c", "a", "b"));
    long version = STOA.history(list).version();
    list.sort(null);
    assertEquals(List.of("a", "b", "c"), list);
    assertTrue(list.removeIf(element -> element.equals("b")));
    list.replaceAll(element -> element + element);
    assertEquals(List.of("aa", "cc"), list);
    assertEquals(List.of("c", "a", "b"), STOA.history(list).at(version));
  }

  @Test
  void mergesOfManyThreadsAddUp() throws Exception {
    SharedMap<String, Integer> map = STOA.map("sums", String.class, Integer.class);
    var futures = new ArrayList<Future<?>>();
    try (var threads = Executors.newFixedThreadPool(4)) {
      for (int t = 0; t < 4; t++) {
        futures.add(
            threads.submit(() -> {
              for (int i = 0; i < 100; i++) map.merge("k" + i % 3, 1, Integer::sum);
            }));
      }
    }
    for (Future<?> future : futures) future.get();
    assertEquals(400, map.values().stream().mapToInt(i -> i).sum());
  }

  @Test
  void noElementIsPolledTwice() throws Exception {
    SharedQueue<Integer> queue = STOA.queue("polled", Integer.class);
    for (int i = 0; i < 400; i++) queue.add(i);
    Set<Integer> polled = ConcurrentHashMap.newKeySet();
    var twice = new AtomicBoolean();
    var futures = new ArrayList<Future<?>>();
    try (var threads = Executors.newFixedThreadPool(4)) {
      for (int t = 0; t < 4; t++) {
        futures.add(
            threads.submit(() -> {
              for (Integer next = queue.poll(); next != null; next = queue.poll()) {
                if (!polled.add(next)) twice.set(true);
              }
            }));
      }
    }
    for (Future<?> future : futures) future.get();
    assertFalse(twice.get());
    assertEquals(400, polled.size());
  }

  @Test
  void aShardedMapAsksItsChildrenAtOnce() {
    var map = STOA.shardedMap("at once", Integer.class, Integer.class, 100);
    var all = new TreeMap<Integer, Integer>();
    for (int i = 0; i < 300; i++) all.put(i, i);
    map.putAll(all);
    // 64 at a time, and a commit.
    Trips.atMost(3, 5, STOA, () -> assertEquals(300, map.size()));
    assertThrows(
        IllegalStateException.class,
        () ->
            STOA.transact(() -> {
              map.put(300, 300);
              assertEquals(301, map.size());
              map.clear();
              assertEquals(0, map.size());
              throw new IllegalStateException("back");
            }));
    assertEquals(300, map.size());
    // First their sizes, then those with entries.
    Trips.atMost(5, 8, STOA, map::clear);
    assertTrue(map.isEmpty());
  }

  @Test
  void aTransactionWithTooManyChildrenIsRefusedAndTheNextOneGoesOn() {
    var limits = Limits.standard().withTransactionObjectsMax(10);
    try (Stoa stoa = Stoa.open(StoaConfig.of("memory:").withLimits(limits))) {
      var map = stoa.shardedMap("many", Integer.class, Integer.class, 80);
      assertNull(map.put(1, 1));
      var refused = assertThrows(LimitExceeded.class, map::size);
      assertTrue(String.valueOf(refused.getMessage()).contains("transactionObjectsMax"));
      assertThrows(LimitExceeded.class, map::clear);
      assertEquals(1, map.put(1, 2));
    }
  }

  @Test
  void theSizeOfAShardedMapIsThatOfOneMoment() throws Exception {
    var map = STOA.shardedMap("moments", Integer.class, Integer.class, 16);
    var all = new TreeMap<Integer, Integer>();
    for (int i = 0; i < 64; i++) all.put(i, i);
    var done = new AtomicBoolean();
    try (var threads = Executors.newFixedThreadPool(1)) {
      Future<?> writer =
          threads.submit(() -> {
            for (int i = 0; i < 40; i++) {
              map.putAll(all);
              map.clear();
            }
            done.set(true);
          });
      int reads = 0;
      while (!done.get() || reads < 20) {
        int size = map.size();
        assertTrue(size == 0 || size == 64, "size " + size);
        int seen = 0;
        for (Integer key : map.keySet()) seen += key >= 0 ? 1 : 0;
        assertTrue(seen == 0 || seen == 64, "seen " + seen);
        reads++;
      }
      writer.get();
    }
    assertTrue(map.isEmpty());
  }

  /// Returns whether a transaction on a map and a list commits although others change them.
  private static boolean commits(
      SharedMap<String, Integer> map,
      SharedList<String> list,
      BiConsumer<Map<String, Integer>, List<String>> body,
      Runnable others) {
    try (Transaction transaction = STOA.begin(TxOptions.STANDARD)) {
      body.accept(transaction.on(map), transaction.on(list));
      others.run();
      return transaction.commit() instanceof Transaction.Outcome.Committed;
    }
  }

  @Test
  void transactionsOnDifferentKeysOfAMapDoNotConflict() {
    SharedMap<String, Integer> map = STOA.map("fine", String.class, Integer.class);
    SharedList<String> list = STOA.list("fine", String.class);
    map.put("a", 1);
    list.add("first");
    Runnable others =
        () -> {
          map.merge("b", 1, Integer::sum);
          map.fastPut("c", 3);
          map.remove("c");
        };
    assertTrue(
        commits(
            map,
            list,
            (m, _) -> {
              assertEquals(1, m.put("a", 2));
              assertNull(m.putIfAbsent("d", 4));
              assertEquals(4, m.remove("d"));
              assertTrue(m.replace("a", 2, m.get("a") + 1));
              assertFalse(m.containsKey("e"));
            },
            others));
    assertEquals(Map.of("a", 3, "b", 1), map);
    assertFalse(commits(map, list, (m, _) -> m.put("b", 2), others));
    assertFalse(commits(map, list, (m, _) -> m.put("a", m.size()), others));
    assertFalse(
        commits(map, list, (m, _) -> m.put("a", m.keySet().iterator().next().length()), others));
    assertFalse(commits(map, list, (m, _) -> m.put("a", 9), map::clear));
  }

  @Test
  void appendsToAListDoNotConflictWithEachOther() {
    SharedMap<String, Integer> map = STOA.map("appends", String.class, Integer.class);
    SharedList<String> list = STOA.list("appends", String.class);
    list.add("first");
    assertTrue(
        commits(
            map,
            list,
            (m, l) -> {
              l.add("mine");
              l.addAll(List.of("and", "mine"));
              m.put("a", 1);
            },
            () -> list.add("other")));
    assertEquals(List.of("first", "other", "mine", "and", "mine"), list);
    assertFalse(
        commits(
            map,
            list,
            (_, l) -> {
              l.add("mine");
              assertEquals(6, l.size());
            },
            () -> list.add("again")));
    assertFalse(commits(map, list, (_, l) -> l.add("mine"), () -> list.set(0, "begin")));
    assertEquals(6, list.size());
  }
}
