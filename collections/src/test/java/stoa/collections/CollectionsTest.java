package stoa.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Blob;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.Ref;
import stoa.Shared;
import stoa.SharedList;
import stoa.SharedMap;
import stoa.SharedNavigableMap;
import stoa.SharedQueue;
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

  /// An enum whose constants hash by address.
  enum Color {
    RED,
    GREEN
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
  void aSortedMapReadsSomeEntriesFromAKeyOnInItsOrder() {
    var map = STOA.navigableMap("ceiling", String.class, Integer.class, Longest.class);
    for (int i = 1; i <= 9; i++) map.put("x".repeat(i), i);
    var model = new TreeMap<String, Integer>(new Longest());
    model.putAll(map);
    for (int max : List.of(1, 3, 100)) {
      assertEquals(
          model.tailMap("xxxxx").entrySet().stream().limit(max).toList(),
          map.ceilingEntries("xxxxx", max));
    }
    assertThrows(IllegalArgumentException.class, () -> map.ceilingEntries("x", 0));
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
