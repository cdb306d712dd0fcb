package stoa.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.store.Script.key;
import static stoa.store.Script.lines;
import static stoa.store.Script.put;
import static stoa.store.Script.text;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import stoa.Aborted;
import stoa.AlreadyExists;
import stoa.CallFailed;
import stoa.Closed;
import stoa.DeadlineExceeded;
import stoa.Gone;
import stoa.base.Existence;
import stoa.log.BatchOutcome;
import stoa.log.LocalBatchLog;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.disk.SimulatedDisk;
import stoa.store.calls.KeyEntry;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.running.Request;
import stoa.store.running.StoreTransaction;
import stoa.store.threads.Threads;

class StoreTest {
  private final MemoryDisk disk = new MemoryDisk(256 << 20);

  @Test
  void executesPutsInOrderAndFindsThemAgain() {
    try (var store = Script.open(disk)) {
      assertEquals("1:a", put(store, "k", "a"));
      assertEquals("2:b", put(store, "k", "b"));
      assertEquals("a,b", lines(store, "k"));
    }
    try (var store = Script.open(disk)) {
      assertEquals("a,b", lines(store, "k"));
      assertEquals("3:c", put(store, "k", "c"));
    }
  }

  @Test
  void answersManyThreadsOnceEach() throws Exception {
    try (var store = Script.open(disk);
        var threads = Executors.newVirtualThreadPerTaskExecutor();
        var platform = Executors.newFixedThreadPool(4)) {
      var answers = new ArrayList<Future<String>>();
      for (int i = 0; i < 2_000; i++) {
        String line = "x" + i;
        var executor = i % 2 == 0 ? threads : platform;
        answers.add(executor.submit(() -> put(store, "k" + line.length(), line)));
      }
      for (int i = 0; i < answers.size(); i++) {
        assertTrue(answers.get(i).get().endsWith(":x" + i), answers.get(i).get());
      }
      int total = 0;
      for (int length = 2; length <= 5; length++) {
        total += lines(store, "k" + length).split(",").length;
      }
      assertEquals(2_000, total);
    }
  }

  @Test
  void logsNestedAnswersAndReplaysThem() {
    try (var store = Script.open(disk)) {
      put(store, "b", "x");
      assertEquals("1:(x)", put(store, "a", "ask b"));
      assertEquals("2:2:y", put(store, "a", "call b y"));
      put(store, "b", "z");
    }
    try (var store = Script.open(disk)) {
      assertEquals("(x),2:y", lines(store, "a"));
      assertEquals("x,y,z", lines(store, "b"));
    }
  }

  @Test
  void findsACallThatWouldWaitForItself() {
    try (var store = Script.open(disk)) {
      assertEquals("1:Deadlock", put(store, "a", "call a x"));
      assertEquals("2:1:Deadlock", put(store, "a", "call b call a x"));
      assertEquals("Deadlock", lines(store, "b"));
    }
    try (var store = Script.open(disk)) {
      assertEquals("Deadlock,1:Deadlock", lines(store, "a"));
    }
  }

  @Test
  void neverHangsOnCrossingChains() throws Exception {
    try (var store = Script.open(disk);
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int round = 0; round < 200; round++) {
        Future<String> one = threads.submit(() -> put(store, "a", "call b x"));
        Future<String> two = threads.submit(() -> put(store, "b", "call a x"));
        assertTrue(one.get().contains(":"), one.get());
        assertTrue(two.get().contains(":"), two.get());
      }
    }
  }

  @Test
  void takesBackACallThatDoesNotReturnAndGoesOn() {
    try (var store = Script.open(disk, Threads.real(), Duration.ofMillis(100), 1 << 20)) {
      put(store, "k", "a");
      assertThrows(DeadlineExceeded.class, () -> put(store, "k", "loop"));
      assertEquals("2:b", put(store, "k", "b"));
      assertThrows(DeadlineExceeded.class, () -> put(store, "fresh", "loop"));
      assertEquals("1:c", put(store, "fresh", "c"));
      assertEquals("1:DeadlineExceeded", put(store, "outer", "call k loop"));
    }
    try (var store = Script.open(disk)) {
      assertEquals("a,b", lines(store, "k"));
      assertEquals("c", lines(store, "fresh"));
      assertEquals("DeadlineExceeded", lines(store, "outer"));
    }
  }

  @Test
  void takesBackACallThatExhaustsTheStack() {
    try (var store = Script.open(disk)) {
      put(store, "k", "a");
      assertThrows(CallFailed.class, () -> put(store, "k", "overflow"));
      assertEquals("2:b", put(store, "k", "b"));
    }
    try (var store = Script.open(disk)) {
      assertEquals("a,b", lines(store, "k"));
    }
  }

  @Test
  void endsAGenerationAndBeginsAnother() {
    try (var store = Script.open(disk)) {
      put(store, "k", "a");
      long first = store.generation(key("k"));
      assertEquals(1, first);
      store.delete(store.target(key("k")), Terms.expecting(new Existence.Generation(first)));
      assertEquals(0, store.generation(key("k")));
      var old = new Existence.Generation(first);
      var target = store.target(key("k"));
      assertThrows(
          Gone.class,
          () ->
              store.put(target, Put.of(new byte[1]), Terms.expecting(old).at(Pace.SHORT)).answer());
      assertThrows(
          Gone.class,
          () ->
              store
                  .put(
                      target,
                      Put.of(new byte[1]),
                      Terms.expecting(new Existence.Undeleted(null)).at(Pace.SHORT))
                  .answer());
      assertThrows(
          Gone.class, () -> store.get(target, "", Terms.expecting(old).at(Pace.SHORT)).answer());
      assertThrows(Gone.class, () -> store.delete(target, Terms.expecting(old)));
      assertEquals("1:b", put(store, "k", "b"));
      assertEquals(3, store.generation(key("k")));
      assertThrows(
          AlreadyExists.class,
          () ->
              store
                  .put(
                      target,
                      Put.of(new byte[1]),
                      Terms.expecting(new Existence.Absent(null)).at(Pace.SHORT))
                  .answer());
    }
    try (var store = Script.open(disk)) {
      assertEquals(3, store.generation(key("k")));
      assertEquals("b", lines(store, "k"));
    }
  }

  @Test
  void listsWhatExists() {
    try (var store = Script.open(disk)) {
      for (int i = 0; i < 700; i++) put(store, "k" + i, "a");
      for (int i = 0; i < 700; i += 3) {
        store.delete(store.target(key("k" + i)), Terms.expecting(new Existence.Any(null)));
      }
      put(store, "k0", "again");
    }
    try (var store = Script.open(disk)) {
      var names = new ArrayList<String>();
      store.list("script").forEachRemaining(name -> names.add(text(name)));
      assertEquals(467, names.size());
      assertEquals("k1", names.getFirst());
      assertEquals("k0", names.getLast());
    }
  }

  @Test
  void readsThePast() {
    try (var store = Script.open(disk)) {
      for (int i = 0; i < 30; i++) put(store, "k", "line" + i + "x".repeat(10_000));
      assertEquals(30, store.position(key("k")));
      for (long version : new long[] {0, 1, 7, 8, 29, 30}) {
        String then =
            text(
                store
                    .past(key("k"), version)
                    .get("lines", new Existence.Any(null), Pace.LONG)
                    .encoded());
        assertEquals(version, then.isEmpty() ? 0 : then.split(",").length);
      }
      assertThrows(IllegalArgumentException.class, () -> store.past(key("k"), 31));
      List<KeyEntry> events = store.events(key("k"), 3, 5);
      assertEquals(3, events.size());
      assertInstanceOf(KeyEntry.What.Put.class, events.getFirst().event());
    }
  }

  @Test
  void keepsFewKeysInMemory() {
    try (var store = Script.open(disk, Threads.real(), Duration.ofSeconds(10), 256 << 10)) {
      for (int i = 0; i < 5_000; i++) put(store, "k" + i, "a".repeat(100));
      for (int i = 0; i < 5_000; i += 7) assertEquals("a".repeat(100), lines(store, "k" + i));
      assertTrue(store.residentKeys() < 1_000, "resident: " + store.residentKeys());
    }
  }

  @Test
  void goesOnWithWhatACrashLeftUnfinishedBeforeAnybodyAsks() {
    var power = new SimulatedDisk(1);
    var crashed = Script.open(power, Threads.real(), Duration.ofMinutes(1), 1 << 20);
    var before = new Existence.Any(null);
    put(crashed, "b", "x");
    var request =
        crashed.putAsync(
            crashed.target(key("a")), Put.of(Script.bytes("call b loop")), Terms.expecting(before));
    while (crashed.events(key("b"), 2, 2).isEmpty()) Thread.onSpinWait();
    assertFalse(request.isDone());
    try (var store = Script.open(power.kill(), Threads.real(), Duration.ofMillis(100), 1 << 20)) {
      store.resume((space, name) -> key(text(name)));
      var events = store.events(key("b"), 2, 3);
      assertInstanceOf(KeyEntry.What.TakenBack.class, events.getLast().event());
      assertEquals("DeadlineExceeded", lines(store, "a"));
      assertEquals("x", lines(store, "b"));
    }
  }

  @Test
  @Timeout(60)
  void executesADeletionThatIsLoggedWithTheTransactionWhichItRefuses() throws Exception {
    var any = new Existence.Any(null);
    var bounds =
        new StoreTransaction.Bounds(StoreTransaction.Access.WRITES, Long.MAX_VALUE, 10, 1 << 20);
    try (var store = Script.open(disk)) {
      put(store, "k", "a");
      var deletion = new CompletableFuture<Request>();
      var refusal = new CompletableFuture<RuntimeException>();
      var caller =
          new Gathering(() -> {
            try (StoreTransaction transaction = store.begin(bounds)) {
              var target = store.target(key("k"));
              transaction.put(target, Script.bytes("b"), any, Pace.SHORT);
              // No thread writes a batch for it before the transaction does, for itself.
              store.deleteAsync(target, Terms.expecting(any)).whenDone(deletion::complete);
              refusal.complete(assertThrows(RuntimeException.class, transaction::commit));
            }
          });
      caller.start();
      assertInstanceOf(Aborted.class, refusal.get());
      assertEquals(1, deletion.get().number());
      assertEquals("1:c", put(store, "k", "c"));
    }
  }

  @Test
  @Timeout(60)
  void questionsWaitForThePutsOfTheirKeyAndForNoOthers() throws Exception {
    var any = new Existence.Any(null);
    var begun = new CountDownLatch(1);
    var goesOn = new CompletableFuture<@Nullable BatchOutcome>();
    var slow = new AtomicBoolean();
    var log =
        new TroubledLog(
            new LocalBatchLog(Device.open(disk, DeviceConfig.standard())),
            _ -> {
              if (!slow.get()) return null;
              begun.countDown();
              return goesOn.join();
            });
    try (var store = Script.open(log)) {
      put(store, "a", "x");
      put(store, "b", "y");
      slow.set(true);
      var puts = new CompletableFuture<Request>();
      store
          .putAsync(
              store.target(key("a")),
              Put.of(Script.bytes("z")),
              Terms.expecting(any).at(Pace.SHORT))
          .whenDone(puts::complete);
      begun.await();
      var behind = new CompletableFuture<Request>();
      var beside = new CompletableFuture<Request>();
      store
          .getAsync(store.target(key("a")), "lines", Terms.expecting(any).at(Pace.SHORT))
          .whenDone(behind::complete);
      store
          .getAsync(store.target(key("b")), "lines", Terms.expecting(any).at(Pace.SHORT))
          .whenDone(beside::complete);
      assertEquals("y", text(beside.get().answer().encoded()));
      assertFalse(behind.isDone());
      assertFalse(puts.isDone());
      goesOn.complete(null);
      assertEquals("x,z", text(behind.get().answer().encoded()));
    }
  }

  @Test
  void refusesCallsWhenClosed() {
    var store = Script.open(disk);
    put(store, "k", "a");
    store.close();
    assertThrows(Closed.class, () -> put(store, "k", "b"));
  }
}
