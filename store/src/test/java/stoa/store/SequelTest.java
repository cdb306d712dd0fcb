package stoa.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static stoa.store.Script.bytes;
import static stoa.store.Script.key;
import static stoa.store.Script.put;
import static stoa.store.Script.text;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import stoa.LimitExceeded;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Answer;
import stoa.base.CheckpointRule;
import stoa.base.Clock;
import stoa.base.Existence;
import stoa.base.Footprint;
import stoa.base.Key;
import stoa.log.BatchLog;
import stoa.log.BatchOutcome;
import stoa.log.LocalBatchLog;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.store.calls.Pace;
import stoa.store.calls.Terms;
import stoa.store.records.Records;
import stoa.store.running.Execution;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;
import stoa.store.running.PutRequest;
import stoa.store.running.Resident;
import stoa.store.running.Sequel;
import stoa.store.running.StoreTransaction;
import stoa.store.threads.Threads;

/// What the store does with the changes of other keys that puts have left to it.
class SequelTest {
  private static final Existence ANY = new Existence.Any(null);
  private static final StoreTransaction.Bounds BOUNDS =
      new StoreTransaction.Bounds(StoreTransaction.Access.WRITES, 60_000_000, 1_000, 1 << 20);
  private static final String LARGE = "x".repeat(CheckpointRule.BYTES_MIN + 1);

  private final MemoryDisk disk = new MemoryDisk(64 << 20);
  private final Changes changes = new Changes();
  private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();

  /// The changes that puts have left, and those among them that are under way.
  private static final class Changes {
    final List<String> made = new CopyOnWriteArrayList<>();
    final LinkedBlockingQueue<Sequel> underWay = new LinkedBlockingQueue<>();
    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch goesOn = new CountDownLatch(1);
    volatile boolean endsAtOnce;

    void make(String line, Sequel sequel) {
      if (line.equals(LARGE)) {
        PutRequest other =
            sequel.request(key("b"), bytes("x"), Pace.LONG, List.of(Footprint.ALL), ANY);
        sequel.begins(() -> other);
        sequel.send(other, done -> sequel.ends(done.failure(), done.reach()));
        return;
      }
      made.add(line);
      sequel.begins(() -> null);
      if (endsAtOnce) sequel.ends(null, 0);
      else underWay.add(sequel);
    }
  }

  /// Keeps lines, and leaves a change for each, but those of the key `b`. The line "wait" waits
  /// until it is let on.
  private record Leaving(Changes changes, List<String> lines) implements Handler, HandlerFactory {
    @Override
    public Handler create(Key key, byte @Nullable [] opening, Execution execution) {
      return new Leaving(changes, new ArrayList<>());
    }

    @Override
    public Handler restore(Key key, byte[] checkpoint) {
      return new Leaving(changes, new ArrayList<>(text(checkpoint).lines().toList()));
    }

    @Override
    public Answer failure(RuntimeException cause) {
      return new Script.Said(cause.getClass().getSimpleName());
    }

    @Override
    public Answer put(byte[] value, Execution execution) {
      String line = text(value);
      if (line.equals("wait")) {
        changes.begun.countDown();
        try {
          changes.goesOn.await();
        } catch (InterruptedException stopped) {
          Thread.currentThread().interrupt();
        }
      }
      lines.add(line);
      if (!execution.key().equals(key("b"))) {
        execution.leave(sequel -> changes.make(line, sequel));
      }
      return new Script.Said(line);
    }

    @Override
    public Answer get(@Nullable Object query, Execution execution) {
      return new Script.Said(String.join(",", lines));
    }

    @Override
    public byte[] checkpoint() {
      return bytes(String.join("\n", lines));
    }
  }

  /// Threads with one worker, so that nobody else executes what it waits for.
  private record Lone(Threads real, ExecutorService worker, AtomicReference<Thread> working)
      implements Threads {
    static Lone open() {
      return new Lone(Threads.real(), Executors.newSingleThreadExecutor(), new AtomicReference<>());
    }

    @Override
    public Executor writer() {
      return real.writer();
    }

    @Override
    public Executor workers() {
      return task ->
          worker.execute(() -> {
            working.set(Thread.currentThread());
            task.run();
          });
    }

    @Override
    public Executor answers() {
      return real.answers();
    }

    @Override
    public void every(Runnable tick) {
      // Time stands still.
    }

    @Override
    public boolean mayRunLong() {
      return Thread.currentThread().equals(working.get());
    }

    @Override
    public boolean mayRunQuick() {
      return mayRunLong();
    }

    @Override
    public long patienceNanos() {
      return real.patienceNanos();
    }

    @Override
    public void lost(Thread thread) {
      real.lost(thread);
    }

    @Override
    public void back(Thread thread) {
      real.back(thread);
    }

    @Override
    public void close() {
      worker.shutdown();
      real.close();
    }
  }

  private Store open() {
    return open(new Untimed(Threads.real()));
  }

  private Store open(Threads threads) {
    return open(threads, new LocalBatchLog(Device.open(disk, DeviceConfig.standard())));
  }

  private Store open(Threads threads, BatchLog log) {
    var config =
        new StoreConfig(Duration.ofSeconds(10), 10_000, 64 << 20, 16, Duration.ofMillis(1));
    var store = new Store(config, log, Clock.system(), threads);
    store.register("script", new Leaving(changes, List.of()));
    return store;
  }

  private static RuntimeException refused() {
    return new Unavailable("the change is refused");
  }

  private static void isUnknown(Future<?> call) {
    var failure = assertThrows(ExecutionException.class, call::get);
    assertInstanceOf(UnknownOutcome.class, failure.getCause());
  }

  @Test
  @Timeout(30)
  void aWorkerThatWaitsForChangesExecutesThemItself() throws Exception {
    try (callers;
        Store store = open(Lone.open())) {
      // A checkpoint is due, which waits for the changes of the put.
      assertEquals(LARGE, callers.submit(() -> put(store, "a", LARGE)).get());
      assertEquals("x", callers.submit(() -> Script.lines(store, "b")).get());
    }
  }

  @Test
  void changesBehindOneThatFailsAreMadeAgainWithIt() throws Exception {
    try (callers;
        Store store = open()) {
      Future<String> one = callers.submit(() -> put(store, "a", "one"));
      Sequel first = changes.underWay.take();
      Future<String> two = callers.submit(() -> put(store, "a", "wait"));
      changes.begun.await();
      first.ends(refused(), 0);
      isUnknown(one);
      changes.endsAtOnce = true;
      changes.goesOn.countDown();
      isUnknown(two);
      assertEquals("one,wait", Script.lines(store, "a"));
    }
    assertEquals(List.of("one", "one", "wait"), changes.made);
  }

  @Test
  void whatFollowsFromAPutIsMadeAgainByTheNextProcess() throws Exception {
    try (callers) {
      Store store = open();
      Future<String> one = callers.submit(() -> put(store, "a", "one"));
      Sequel first = changes.underWay.take();
      store.close();
      first.ends(refused(), 0);
      isUnknown(one);
      changes.endsAtOnce = true;
      try (Store again = open()) {
        assertEquals("one", Script.lines(again, "a"));
        assertEquals("two", put(again, "a", "two"));
      }
      try (Store again = open()) {
        assertEquals("one,two", Script.lines(again, "a"));
      }
    }
    // The last one again, when the log does not say yet that it is made.
    assertEquals(List.of("one", "one", "two"), changes.made.subList(0, 3));
  }

  @Test
  void thePastOfADeletedKeyIsReadAfterItsLastChangesHaveFailed() throws Exception {
    try (callers;
        Store store = open()) {
      Future<String> one = callers.submit(() -> put(store, "a", "one"));
      changes.underWay.take().ends(refused(), 0);
      isUnknown(one);
      changes.endsAtOnce = true;
      var _ = store.delete(store.target(key("a")), Terms.expecting(ANY));
      assertEquals(3, store.tail(key("a")));
    }
  }

  /// Another replica would make the changes of the put again, behind those of the transaction.
  @Test
  void noTransactionIsLoggedBehindChangesThatTheLogCouldNotNote() {
    var full = new AtomicBoolean(true);
    var log =
        new TroubledLog(
            new LocalBatchLog(Device.open(disk, DeviceConfig.standard())),
            batch ->
                full.get()
                        && batch.entries().stream()
                            .anyMatch(entry -> entry.kind() == Records.ANSWERED)
                    ? new BatchOutcome.Refused(new LimitExceeded("the log is full"))
                    : null);
    changes.endsAtOnce = true;
    try (callers;
        Store store = open(new Untimed(Threads.real()), log)) {
      put(store, "a", "one");
      StoreTransaction behind = store.begin(BOUNDS);
      var _ = behind.put(store.target(key("a")), bytes("two"), ANY, Pace.SHORT);
      Resident a = store.engine().residents().pin(key("a"));
      while (a.notesUnderWay() > 0) {
        assertThrows(StoaException.class, () -> put(store, "b", "the batch of the note"));
      }
      a.unpin();
      assertInstanceOf(Unavailable.class, assertThrows(StoaException.class, behind::commit));
      full.set(false);
      StoreTransaction next = store.begin(BOUNDS);
      var _ = next.put(store.target(key("a")), bytes("two"), ANY, Pace.SHORT);
      next.commit();
      assertEquals("one,two", Script.lines(store, "a"));
    }
  }
}
