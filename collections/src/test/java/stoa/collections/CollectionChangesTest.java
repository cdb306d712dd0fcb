package stoa.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.Change;
import stoa.ChangeStream;
import stoa.Changes;
import stoa.Index;
import stoa.ObjectEvent;
import stoa.ObjectListener;
import stoa.Schedule;
import stoa.ShardedMap;
import stoa.Shared;
import stoa.SharedBlockingDeque;
import stoa.SharedList;
import stoa.SharedMap;
import stoa.SharedNavigableMap;
import stoa.SharedRangeMap;
import stoa.Stoa;

/// Streams of the changes of collections, and of all objects, show what programs know.
class CollectionChangesTest {
  @Shared(name = "all.Order")
  static class Order {
    @Index private String customer = "";

    void assign(String to) {
      customer = to;
    }

    @Accessor
    String customer() {
      return customer;
    }
  }

  @Shared(name = "all.Audit")
  static class Audit implements ObjectListener {
    private int count;

    @Override
    public void on(ObjectEvent event) {
      count++;
    }

    @Accessor
    int count() {
      return count;
    }
  }

  @Shared(name = "all.End")
  static class End {
    private boolean ended;

    void end() {
      ended = true;
    }

    @Accessor
    boolean ended() {
      return ended;
    }
  }

  /// Returns the last change of each object up to the call of the end, by type and key.
  private static SortedMap<String, Change<Object>> toEnd(Stoa stoa, ChangeStream<Object> changes)
      throws InterruptedException {
    stoa.get(End.class, "end").end();
    var last = new TreeMap<String, Change<Object>>();
    while (!last.containsKey("all.End[end]")) {
      Change<Object> next = changes.next();
      last.put(next.at().object().toString(), next);
    }
    var _ = last.remove("all.End[end]");
    return last;
  }

  /// Changes an object of a program, and every kind of object in which the store keeps something.
  private static void work(Stoa stoa) {
    Order order = stoa.get(Order.class, "1");
    stoa.transact(() -> order.assign("ann"));
    stoa.timers().schedule("later", Schedule.after(Duration.ofDays(1)), order).assign("bob");
    stoa.listeners().tag("important", order);
    Audit audit = stoa.get(Audit.class, "quiet");
    stoa.listeners().listen("quiet", Changes.ofObject(audit), audit);
    assertEquals(1, stoa.query(Order.class).count());
  }

  @Test
  void theObjectsInWhichTheStoreKeepsSomethingAreLeftOut() throws InterruptedException {
    try (Stoa stoa = Stoa.open("memory:")) {
      try (var changes = stoa.changes(Changes.all())) {
        work(stoa);
        var shown = toEnd(stoa, changes);
        assertEquals(List.of("all.Order[1]"), List.copyOf(shown.keySet()));
        // The index changes in the same transaction.
        assertEquals(1, shown.firstEntry().getValue().at().size());
      }
      try (var present = stoa.changes(Changes.all().fromPresent())) {
        assertEquals(
            List.of("all.End[end]", "all.Order[1]"),
            List.of(present.next(), present.next()).stream()
                .map(one -> one.at().object().toString())
                .sorted()
                .toList());
        assertEquals(present.token(), present.token()); // there are no more
      }
    }
  }

  private static @Nullable Object after(Map<String, Change<Object>> shown, String object) {
    Change<Object> change = shown.get(object);
    return change == null ? null : change.after();
  }

  private static void requireCollections(Map<String, Change<Object>> shown) {
    var map = assertInstanceOf(SharedMap.class, after(shown, "stoa.Map[map]"));
    assertEquals(Map.of("a", 1L), map);
    assertThrows(UnsupportedOperationException.class, map::clear);
    var sorted =
        assertInstanceOf(SharedNavigableMap.class, after(shown, "stoa.NavigableMap[sorted]"));
    assertEquals("b", sorted.firstKey());
    var ranges = assertInstanceOf(SharedRangeMap.class, after(shown, "stoa.RangeMap[ranges]"));
    assertEquals(List.of(new SharedRangeMap.Range<>(1L, 5L, "c")), ranges.ranges());
    var list = assertInstanceOf(SharedList.class, after(shown, "stoa.List[queue]"));
    assertEquals(List.of("d"), list);
    var deque =
        assertInstanceOf(SharedBlockingDeque.class, after(shown, "stoa.BlockingList[jobs]"));
    assertEquals("e", deque.peek());
  }

  @Test
  void statesOfCollectionsAreCollections() throws InterruptedException {
    try (Stoa stoa = Stoa.open("memory:");
        var changes = stoa.changes(Changes.all().withStates())) {
      stoa.map("map", String.class, Long.class).put("a", 1L);
      stoa.navigableMap("sorted", String.class, Long.class).put("b", 2L);
      stoa.rangeMap("ranges", Long.class, String.class).put(1L, 5L, "c");
      stoa.queue("queue", String.class).add("d");
      stoa.blockingQueue("jobs", String.class, 2).add("e");
      requireCollections(toEnd(stoa, changes));
      try (var present = stoa.changes(Changes.all().fromPresent())) {
        var shown = new TreeMap<String, Change<Object>>();
        for (int i = 0; i < 6; i++) {
          Change<Object> one = present.next();
          shown.put(one.at().object().toString(), one);
        }
        requireCollections(shown);
      }
    }
  }

  /// Replaces the entries of a part of a map.
  private static void mirror(Map<String, Long> mirror, Change<ShardedMap<String, Long>> change) {
    ShardedMap<String, Long> before = change.before();
    if (before != null) mirror.keySet().removeAll(before.keySet());
    ShardedMap<String, Long> after = change.after();
    if (after != null) mirror.putAll(after);
  }

  private static boolean hasToken(ChangeStream<?> changes) {
    try {
      return changes.token() != null;
    } catch (IllegalStateException more) {
      return false;
    }
  }

  @Test
  void aShardedMapShowsTheChangesOfItsChildren() throws InterruptedException {
    try (Stoa stoa = Stoa.open("memory:")) {
      ShardedMap<String, Long> map = stoa.shardedMap("m", String.class, Long.class, 4);
      ShardedMap<String, Long> other = stoa.shardedMap("n", String.class, Long.class, 4);
      for (int i = 0; i < 10; i++) map.put("k" + i, (long) i);
      other.put("x", 1L);
      var mirror = new TreeMap<String, Long>();
      try (var changes = stoa.changes(Changes.ofObject(map).withStates().fromPresent())) {
        while (!hasToken(changes)) mirror(mirror, changes.next());
        assertEquals(new TreeMap<>(map), mirror);
        stoa.map("m", String.class, Long.class).put("y", 1L);
        other.put("z", 2L);
        stoa.transact(() -> {
          map.put("k1", 100L);
          map.remove("k2");
          map.put("k10", 10L);
        });
        map.put("end", 0L);
        var sizes = new ArrayList<Integer>();
        while (!mirror.containsKey("end")) {
          Change<ShardedMap<String, Long>> change = changes.next();
          sizes.add(change.at().size());
          mirror(mirror, change);
        }
        assertEquals(List.of(3, 3, 3, 1), sizes);
        assertEquals(new TreeMap<>(map), mirror);
        other.put("z", 3L);
        assertEquals(Optional.empty(), changes.next(Duration.ofMillis(1)));
      }
      var tree = stoa.bTree("t", String.class, Long.class);
      assertThrows(
          UnsupportedOperationException.class, () -> stoa.changes(Changes.ofObject(tree)).close());
    }
  }
}
