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
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Spliterator;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import stoa.Change;
import stoa.Changes;
import stoa.NotShareable;
import stoa.Ref;
import stoa.ShardedMap;
import stoa.SharedBTree;
import stoa.SharedList;
import stoa.SharedMap;
import stoa.SharedNavigableMap;
import stoa.SharedQueue;
import stoa.SharedRangeMap;
import stoa.SharedStack;
import stoa.Stoa;
import stoa.View;
import stoa.collections.CollectionsTest.Cell;
import stoa.collections.CollectionsTest.Color;
import stoa.collections.CollectionsTest.Longest;

/// Collections as other collections, as equal values, and as they were.
class CollectionViewsTest {
  private static final Stoa STOA = Stoa.open("memory:");

  @AfterAll
  static void close() {
    STOA.close();
  }

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
  void aStreamOfChangesShowsTheStatesOfACollection() throws InterruptedException {
    SharedMap<String, Integer> map = STOA.map("changing", String.class, Integer.class);
    map.put("a", 1);
    var wanted = Changes.ofObject(map).withStates().fromPresent();
    try (var changes = STOA.changes(wanted)) {
      for (int i = 0; i < 3_000; i += 1_000) {
        var more = new TreeMap<String, Integer>();
        for (int k = i; k < i + 1_000; k++) more.put("k" + k, k);
        map.putAll(more);
      }
      Map<String, Integer> present = changes.next().after();
      assertEquals(Map.of("a", 1), present);
      Map<String, Integer> last = present;
      for (int i = 1; i <= 3; i++) {
        Change<SharedMap<String, Integer>> change = changes.next();
        assertEquals(last, change.before());
        last = Objects.requireNonNull(change.after());
        assertEquals(1 + i * 1_000, last.size()); // of several pages
        assertEquals(1 + i * 1_000, List.copyOf(last.entrySet()).size());
        assertEquals(i * 1_000 - 1, last.get("k" + (i * 1_000 - 1)));
      }
      assertEquals(Map.of("a", 1), present);
      Map<String, Integer> read = Objects.requireNonNull(last);
      assertThrows(UnsupportedOperationException.class, () -> read.put("b", 2));
    }
  }

  @Test
  void aStreamOfChangesShowsTheStatesOfEveryKindOfCollection() throws InterruptedException {
    SharedList<String> list = STOA.list("changing", String.class);
    SharedQueue<String> queue = STOA.queue("changing", String.class);
    SharedStack<String> stack = STOA.stack("changing", String.class);
    SharedNavigableMap<String, String> sorted =
        STOA.navigableMap("changing", String.class, String.class);
    SharedRangeMap<Integer, String> ranges = STOA.rangeMap("changing", Integer.class, String.class);
    var deque = STOA.blockingDeque("changing", String.class, 8);
    try (var lists = STOA.changes(Changes.ofObject(list).withStates());
        var queues = STOA.changes(Changes.ofObject(queue).withStates());
        var stacks = STOA.changes(Changes.ofObject(stack).withStates());
        var maps = STOA.changes(Changes.ofObject(sorted).withStates());
        var spans = STOA.changes(Changes.ofObject(ranges).withStates());
        var deques = STOA.changes(Changes.ofObject(deque).withStates())) {
      list.addAll(List.of("a", "b"));
      sorted.put("b", "c");
      ranges.put(1, 5, "x");
      deque.add("d");
      assertEquals(List.of("a", "b"), lists.next().after());
      assertEquals("a", Objects.requireNonNull(queues.next().after()).peek());
      assertEquals("b", Objects.requireNonNull(stacks.next().after()).peek());
      assertEquals(Map.of("b", "c"), maps.next().after());
      assertEquals(Optional.of("x"), Objects.requireNonNull(spans.next().after()).get(3));
      var after = Objects.requireNonNull(deques.next().after());
      assertEquals(List.of("d"), new ArrayList<>(after));
    }
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
}
