package stoa.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.store.Script.bytes;
import static stoa.store.Script.key;
import static stoa.store.Script.text;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import stoa.CallFailed;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Answer;
import stoa.base.CheckpointRule;
import stoa.base.Clock;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.log.LocalBatchLog;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.Disk;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.disk.SimulatedDisk;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.running.Execution;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;
import stoa.store.running.Request;
import stoa.store.running.Resident;
import stoa.store.running.StoreTransaction;
import stoa.store.running.Target;
import stoa.store.threads.Threads;

/// What the store does when handlers, disks and threads misbehave.
class TroubleTest {
  private static final String LARGE = "x".repeat(CheckpointRule.BYTES_MIN + 1);

  private final MemoryDisk disk = new MemoryDisk(256 << 20);

  /// A handler that keeps lines as [Script] does, and fails as it is told.
  private static class Lines implements Handler, HandlerFactory {
    final List<String> lines = new ArrayList<>();

    @Override
    public Handler create(Key key, byte @Nullable [] opening, Execution execution) {
      return fresh();
    }

    @Override
    public Handler restore(Key key, byte[] checkpoint) {
      Lines made = fresh();
      made.lines.addAll(text(checkpoint).lines().toList());
      return made;
    }

    Lines fresh() {
      return new Lines();
    }

    @Override
    public Answer failure(RuntimeException cause) {
      return new Script.Said(cause.getClass().getSimpleName());
    }

    @Override
    public Answer put(byte[] value, Execution execution) {
      lines.add(text(value));
      return new Script.Said(lines.size() + "");
    }

    @Override
    public Answer get(@Nullable Object query, Execution execution) {
      var first = lines.stream().map(line -> line.substring(0, 1)).toList();
      return new Script.Said(String.join(",", first));
    }

    @Override
    public byte[] checkpoint() {
      return bytes(String.join("\n", lines));
    }
  }

  /// Real threads whose writer and workers can be held up.
  private static class Held implements Threads {
    private final Threads real = Threads.real();
    private final ConcurrentLinkedQueue<Runnable> forWorkers = new ConcurrentLinkedQueue<>();
    private final AtomicInteger dispatched = new AtomicInteger();
    volatile boolean writing = true;
    volatile boolean working = true;

    @Override
    public Executor writer() {
      return task -> {
        if (writing) real.writer().execute(task);
      };
    }

    @Override
    public Executor workers() {
      return task -> {
        dispatched.incrementAndGet();
        synchronized (Held.this) {
          if (working) real.workers().execute(task);
          else forWorkers.add(task);
        }
      };
    }

    @Override
    public Executor answers() {
      return real.answers();
    }

    synchronized void work() {
      working = true;
      forWorkers.forEach(real.workers()::execute);
    }

    @Override
    public void every(Runnable tick) {
      real.every(tick);
    }

    @Override
    public boolean mayRunLong() {
      return real.mayRunLong();
    }

    @Override
    public boolean mayRunQuick() {
      return writing && real.mayRunQuick();
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
      real.close();
    }
  }

  private static Store open(
      Disk disk, Threads threads, HandlerFactory factory, Duration callTimeMax, long residentMax) {
    var log = new LocalBatchLog(Device.open(disk, DeviceConfig.standard()));
    var config = new StoreConfig(callTimeMax, 10_000, residentMax, 16, Duration.ofMillis(200));
    var store = new Store(config, log, Clock.system(), threads);
    store.register("script", factory);
    return store;
  }

  private static Store open(Disk disk, HandlerFactory factory) {
    return open(disk, Threads.real(), factory, Duration.ofSeconds(10), 64 << 20);
  }

  private static String put(Store store, String name, String line) {
    return Script.put(store, name, line);
  }

  private static String lines(Store store, String name) {
    return Script.lines(store, name);
  }

  @Test
  void findsTheAnswerOfANestedPutThatMadeACheckpoint() {
    var held = new Held();
    var factory =
        new Lines() {
          @Override
          Lines fresh() {
            return new Lines() {
              @Override
              public Answer put(byte[] value, Execution execution) {
                if (text(value).startsWith("call")) {
                  var any = new Existence.Any(null);
                  lines.add(text(execution.put(key("b"), bytes(LARGE), any)));
                  return new Script.Said(lines.getLast());
                }
                held.writing = false;
                return super.put(value, execution);
              }
            };
          }
        };
    try (var store = open(disk, held, factory, Duration.ofSeconds(10), 64 << 20)) {
      assertEquals("1", put(store, "a", "call"));
    }
    held.writing = true;
    try (var store = open(disk, factory)) {
      assertEquals("1", lines(store, "a"));
      assertEquals("x", lines(store, "b"));
    }
  }

  @Test
  void goesOnWithoutACheckpointThatCannotBeMade() {
    var factory =
        new Lines() {
          @Override
          Lines fresh() {
            return new Lines() {
              @Override
              public byte[] checkpoint() {
                throw new StackOverflowError();
              }
            };
          }
        };
    try (var store = open(disk, factory)) {
      assertEquals("1", put(store, "k", LARGE));
      assertEquals("2", put(store, "k", "b"));
    }
    try (var store = open(disk, factory)) {
      assertEquals("x,b", lines(store, "k"));
    }
  }

  @Test
  void executesALoggedPutLaterWhenTheStateCouldNotBeLoaded() {
    try (var store = open(disk, new Lines())) {
      put(store, "k", LARGE);
    }
    for (Throwable trouble : List.of(new IllegalStateException(), new NoClassDefFoundError())) {
      var failures = new AtomicInteger(1);
      var factory =
          new Lines() {
            @Override
            public Handler restore(Key key, byte[] checkpoint) {
              if (failures.getAndDecrement() > 0) {
                if (trouble instanceof Error error) throw error;
                throw (RuntimeException) trouble;
              }
              return super.restore(key, checkpoint);
            }
          };
      try (var store = open(disk, factory)) {
        assertThrows(UnknownOutcome.class, () -> put(store, "k", "b"));
        put(store, "k", "c");
        String now = lines(store, "k");
        assertTrue(now.endsWith("b,c"), now);
      }
    }
    try (var store = open(disk, new Lines())) {
      assertEquals("x,b,c,b,c", lines(store, "k"));
    }
  }

  @Test
  void doesNotKeepTheStateOfAnEvictedKeyThatATargetPointsTo() {
    var handlers = new ConcurrentLinkedQueue<WeakReference<Lines>>();
    var factory =
        new Lines() {
          @Override
          Lines fresh() {
            var made = new Lines();
            handlers.add(new WeakReference<>(made));
            return made;
          }
        };
    try (var store = open(disk, Threads.real(), factory, Duration.ofSeconds(10), 64 << 10)) {
      var targets = new ArrayList<Target>();
      for (int i = 0; i < 500; i++) {
        var target = store.target(key("k" + i));
        targets.add(target);
        store
            .put(
                target,
                Put.of(bytes("a".repeat(1_000))),
                Terms.expecting(new Existence.Any(null)).at(Pace.SHORT))
            .answer();
      }
      System.gc();
      long kept = handlers.stream().filter(handler -> handler.get() != null).count();
      assertTrue(kept < 250, kept + " of " + targets.size());
    }
  }

  @Test
  void losesNoPutWhenKeysComeAndGo() throws Exception {
    try (var store = open(disk, Threads.real(), new Lines(), Duration.ofSeconds(10), 1);
        var callers = Executors.newFixedThreadPool(6)) {
      var done = new ArrayList<Future<?>>();
      for (int i = 0; i < 6; i++) {
        done.add(
            callers.submit(() -> {
              for (int n = 0; n < 2_000; n++) put(store, "k" + n % 3, "a");
            }));
      }
      for (Future<?> each : done) each.get();
      int total = 0;
      for (int i = 0; i < 3; i++) total += lines(store, "k" + i).split(",").length;
      assertEquals(12_000, total);
    }
  }

  @Test
  void tellsCallersOfCallsThatOutliveTheStore() throws Exception {
    var store = open(disk, Threads.real(), Script.FACTORY, Duration.ofMinutes(5), 64 << 20);
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<String> looping = callers.submit(() -> put(store, "k", "loop"));
      while (store.events(key("k"), 1, 9).size() < 1) Thread.onSpinWait();
      Future<String> behind = callers.submit(() -> put(store, "k", "b"));
      while (store.events(key("k"), 1, 9).size() < 2) Thread.onSpinWait();
      store.close();
      var told = assertThrows(ExecutionException.class, looping::get);
      assertInstanceOf(UnknownOutcome.class, told.getCause());
      assertThrows(ExecutionException.class, behind::get);
    }
  }

  @Test
  void waitsForOthersWithoutAskingForThreadsAgainAndAgain() throws Exception {
    var held = new Held();
    try (var store = open(disk, held, Script.FACTORY, Duration.ofSeconds(10), 64 << 20)) {
      put(store, "a", "x");
      put(store, "b", "x");
      // Their workers would run what is asked next.
      awaitIdle(store, key("a"));
      awaitIdle(store, key("b"));
      held.working = false;
      var any = new Existence.Any(null);
      Request slow =
          store.putAsync(store.target(key("b")), Put.of(bytes("slow")), Terms.expecting(any));
      while (store.events(key("b"), 1, 9).size() < 2) Thread.onSpinWait();
      var answered = new CountDownLatch(1);
      var caller =
          new Thread(() -> {
            store
                .put(
                    store.target(key("a")),
                    Put.of(bytes("call b y")),
                    Terms.expecting(any).at(Pace.SHORT))
                .answer();
            answered.countDown();
          });
      int before = held.dispatched.get();
      caller.start();
      while (caller.isAlive()
          && caller.getState() != Thread.State.TIMED_WAITING
          && caller.getState() != Thread.State.WAITING
          && held.dispatched.get() < before + 1_000) {
        Thread.onSpinWait();
      }
      assertTrue(caller.isAlive(), "it waited for nobody");
      assertTrue(held.dispatched.get() < before + 1_000);
      held.work();
      answered.await();
      assertTrue(slow.isDone());
    }
  }

  @Test
  void keepsAnAcknowledgedCallThatIsSlowWhenItIsReplayed() {
    var pause =
        new Lines() {
          @Override
          Lines fresh() {
            return new Lines() {
              @Override
              public Answer put(byte[] value, Execution execution) {
                long end = System.nanoTime() + 400_000_000;
                while (System.nanoTime() < end) Thread.onSpinWait();
                return super.put(value, execution);
              }
            };
          }
        };
    try (var store = open(disk, pause)) {
      assertEquals("1", put(store, "k", "a"));
    }
    try (var store = open(disk, Threads.real(), pause, Duration.ofMillis(100), 64 << 20)) {
      assertEquals("a", lines(store, "k"));
    }
  }

  /// Waits until no thread executes anything of a key.
  private static void awaitIdle(Store store, Key key) {
    Resident resident = store.engine().residents().pin(key);
    try {
      while (resident.isBusy()) Thread.onSpinWait();
    } finally {
      resident.unpin();
    }
  }

  @Test
  @Timeout(60)
  void cancelsACallWhoseRunWasGivenUpAndIsToBeginAgain() throws Exception {
    var cancels = new AtomicBoolean();
    var held =
        new Held() {
          @Override
          public void pause() {
            if (cancels.getAndSet(false)) work();
            super.pause();
          }
        };
    try (var store = open(disk, held, Script.FACTORY, Duration.ofSeconds(10), 64 << 20)) {
      put(store, "k", "a");
      awaitIdle(store, key("k")); // its worker would run what is asked next
      held.working = false;
      var asked = new CompletableFuture<Request>();
      var caller =
          new Gathering(() -> {
            var target = store.target(key("k"));
            var any = new Existence.Any(null);
            var hour = Duration.ofHours(1);
            asked.complete(
                store.getAsync(target, "spin", Terms.expecting(any).at(Pace.BRIEF).within(hour)));
            store.writeGathered();
          });
      caller.start();
      Request spin = asked.get();
      caller.join(); // it was taken from there, for a worker
      cancels.set(true);
      assertTrue(store.cancel(store.engine().callList().id(spin)));
      while (!spin.isDone()) Thread.onSpinWait();
      assertThrows(CallFailed.class, spin::answer);
      assertEquals("2:b", put(store, "k", "b"));
    }
  }

  @Test
  void aBriefTransactionOfAVirtualThreadNeedsOneTaskOfAWorker() throws Exception {
    Held threads =
        new Held() {
          @Override
          public void every(Runnable tick) {
            // Time stands still.
          }
        };
    var any = new Existence.Any(null);
    try (var store = open(disk, threads, Script.FACTORY, Duration.ofSeconds(10), 64 << 20)) {
      for (String name : List.of("a", "b")) {
        Terms terms = Terms.expecting(any).at(Pace.SHORT);
        store.put(store.target(key(name)), Put.of(bytes("1")), terms).check();
      }
      threads.dispatched.set(0);
      Thread caller =
          Thread.startVirtualThread(() -> {
            var bounds =
                new StoreTransaction.Bounds(
                    StoreTransaction.Access.WRITES, 100_000_000, 10, 1 << 20);
            try (var transaction = store.begin(bounds)) {
              for (String name : List.of("a", "b")) {
                transaction.put(store.target(key(name)), bytes("2"), any, Pace.BRIEF);
              }
              var _ = transaction.commit();
            }
          });
      caller.join();
      assertEquals(1, threads.dispatched.get());
      assertEquals("1,2 1,2", Script.lines(store, "a") + " " + Script.lines(store, "b"));
    }
  }

  @Test
  void showsNothingThatAFailedSyncLeft() {
    var simulated = new SimulatedDisk(1);
    try (var store = open(simulated, Threads.real(), new Lines(), Duration.ofSeconds(10), 1)) {
      put(store, "k", "a");
      simulated.failSync(0);
      assertThrows(UnknownOutcome.class, () -> put(store, "k", "b"));
      for (int i = 0; i < 4; i++) {
        try {
          lines(store, "other" + i);
        } catch (Unavailable refused) {
          // The store has failed; what it still shows must be durable.
        }
      }
      try {
        assertEquals("a", lines(store, "k"));
      } catch (Unavailable refused) {
        assertTrue(String.valueOf(refused.getMessage()).contains("reopen"));
      }
    }
  }
}
