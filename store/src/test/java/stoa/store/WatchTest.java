package stoa.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.store.Script.bytes;
import static stoa.store.Script.key;
import static stoa.store.Script.put;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.base.Existence;
import stoa.storage.disk.MemoryDisk;
import stoa.store.calls.KeyEntry;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.running.StoreTransaction;
import stoa.store.threads.Threads;
import stoa.store.watching.Watches;

class WatchTest {
  private static final Existence ANY = new Existence.Any(null);

  private final MemoryDisk disk = new MemoryDisk(256 << 20);
  private final ConcurrentLinkedQueue<Long> told = new ConcurrentLinkedQueue<>();

  private static StoreTransaction begin(Store store) {
    return store.begin(
        new StoreTransaction.Bounds(StoreTransaction.Access.WRITES, Long.MAX_VALUE, 10, 1 << 20));
  }

  /// The log counters of the changes of a key.
  private static List<Long> changes(Store store, String name) {
    return store.events(key(name), 1, Long.MAX_VALUE).stream()
        .filter(event ->
            event.event() instanceof KeyEntry.What.Put
                || event.event() instanceof KeyEntry.What.Deleted)
        .map(event -> event.entry().log().counter())
        .toList();
  }

  /// The last change of the key `k` up to a log counter.
  private static long changedUpTo(Store store, long moment) {
    var stream = key("k").stream();
    for (long at = store.engine().streams().last(stream); at > 0; at--) {
      var entry = store.engine().streams().read(stream, at);
      if (entry != null && entry.log().counter() <= moment) return entry.log().counter();
    }
    return 0;
  }

  @Test
  void tellsOfPutsAndDeletionsOfItsKeyOnly() {
    try (var store = Script.open(disk);
        var watch = store.watch(key("k"), told::add)) {
      assertEquals(key("k"), watch.key());
      put(store, "other", "x");
      assertEquals(List.of(), List.copyOf(told));
      put(store, "k", "a");
      put(store, "other", "call k b"); // of a handler
      store.delete(store.target(key("k")), Terms.expecting(ANY));
      put(store, "k", "c");
      assertEquals(changes(store, "k"), List.copyOf(told));
      assertEquals(4, told.size());
    }
  }

  @Test
  void tellsOfTransactionsAtTheirLogAddress() {
    try (var store = Script.open(disk);
        var _ = store.watch(key("k"), told::add)) {
      LogAddress first;
      try (StoreTransaction transaction = begin(store)) {
        var _ = transaction.put(store.target(key("k")), bytes("a"), ANY, Pace.LONG);
        var _ = transaction.put(store.target(key("k")), bytes("b"), ANY, Pace.LONG);
        var _ = transaction.put(store.target(key("other")), bytes("b"), ANY, Pace.LONG);
        first = transaction.commit();
      }
      assertEquals(List.of(first.counter()), List.copyOf(told));
      try (StoreTransaction transaction = begin(store)) {
        var _ = transaction.put(store.target(key("k")), bytes("never"), ANY, Pace.LONG);
      }
      try (StoreTransaction transaction = begin(store)) {
        transaction.delete(store.target(key("k")), ANY);
        LogAddress second = transaction.commit();
        assertEquals(List.of(first.counter(), second.counter()), List.copyOf(told));
      }
    }
  }

  @Test
  void beginsWithTheLastChangeOfAKeyThatIsNotInMemory() {
    try (var store = Script.open(disk)) {
      put(store, "k", "a");
      put(store, "k", "call other b");
      put(store, "other", "c");
    }
    try (var store = Script.open(disk)) {
      long last = changes(store, "k").getLast();
      try (var _ = store.watch(key("k"), told::add)) {
        assertEquals(List.of(last), List.copyOf(told));
        for (int i = 0; i < 2; i++) put(store, "k", "d" + i);
        assertEquals(3, told.size());
      }
    }
  }

  @Test
  void tellsNothingOfAKeyThatNeverWasUntilItIs() {
    try (var store = Script.open(disk);
        var _ = store.watch(key("never"), told::add)) {
      assertEquals(0, told.size());
      put(store, "never", "a");
      assertEquals(1, told.size());
    }
  }

  @Test
  void tellsOfKeysThatLeaveMemory() {
    try (var store = Script.open(disk, Threads.real(), Duration.ofSeconds(10), 40_000);
        var _ = store.watch(key("k"), told::add)) {
      for (int round = 1; round <= 3; round++) {
        put(store, "k", "x");
        assertEquals(round, told.size());
        for (int i = 0; i < 100; i++) put(store, "other" + i, "y".repeat(2_000));
      }
    }
  }

  @Test
  void tellsNothingAfterItIsClosed() {
    try (var store = Script.open(disk)) {
      var watch = store.watch(key("k"), told::add);
      var other = store.watch(key("k"), _ -> {});
      put(store, "k", "a");
      watch.close();
      watch.close();
      put(store, "k", "b");
      assertEquals(1, told.size());
      other.close();
      assertTrue(store.engine().watches().isEmpty());
    }
  }

  @Test
  void refusesMoreWatchesThanItKeeps() {
    var watches = new Watches(2);
    var first = watches.add(key("a"), _ -> {});
    var _ = watches.add(key("b"), _ -> {});
    assertThrows(LimitExceeded.class, () -> watches.add(key("a"), _ -> {}));
    first.close();
    var _ = watches.add(key("a"), _ -> {});
  }

  @Test
  void hasToldOfEveryChangeWhenTheMomentIsBehindIt() throws Exception {
    var latest = new AtomicLong();
    try (var store = Script.open(disk);
        var _ = store.watch(key("k"), latest::set);
        var threads = Executors.newFixedThreadPool(1)) {
      var ended = new AtomicBoolean();
      var checks = new ArrayList<Future<Integer>>();
      for (int i = 0; i < 1; i++) {
        checks.add(
            threads.submit(() -> {
              int changesSeen = 0;
              long before = -1;
              while (!ended.get()) {
                long moment = store.moment();
                long saw = latest.get();
                if (moment == before) continue;
                before = moment;
                long change = changedUpTo(store, moment);
                assertTrue(saw >= change, "changed at " + change + ", told of " + saw);
                changesSeen++;
              }
              return changesSeen;
            }));
      }
      for (int i = 0; i < 400; i++) {
        var one =
            store.putAsync(
                store.target(key("k")), Put.of(bytes("n")), Terms.expecting(ANY).at(Pace.SHORT));
        var _ =
            store.putAsync(
                store.target(key("other")),
                Put.of(bytes("n")),
                Terms.expecting(ANY).at(Pace.SHORT));
        while (i % 3 == 0 && !one.isDone()) Thread.onSpinWait();
      }
      ended.set(true);
      for (var check : checks) assertTrue(check.get() > 0);
      assertEquals(changes(store, "k").getLast(), latest.get());
    }
  }

  @Test
  void tellsWhoeverBeginsToWatchWhileItChanges() throws Exception {
    try (var store = Script.open(disk);
        var threads = Executors.newFixedThreadPool(1)) {
      var ended = new AtomicBoolean();
      var writer =
          threads.submit(() -> {
            while (!ended.get()) put(store, "k", "n");
          });
      for (int i = 0; i < 100; i++) {
        var latest = new AtomicLong();
        try (var _ = store.watch(key("k"), latest::set)) {
          long moment = store.moment();
          long saw = latest.get();
          long change = changedUpTo(store, moment);
          assertTrue(saw >= change, "changed at " + change + ", told of " + saw);
        }
      }
      ended.set(true);
      writer.get();
    }
  }
}
