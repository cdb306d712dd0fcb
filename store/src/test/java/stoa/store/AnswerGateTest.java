package stoa.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.store.Script.bytes;
import static stoa.store.Script.key;
import static stoa.store.Script.lines;
import static stoa.store.Script.put;
import static stoa.store.Script.text;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import stoa.StreamKey;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Clock;
import stoa.base.Existence;
import stoa.log.LocalBatchLog;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;
import stoa.storage.disk.ForwardingDisk;
import stoa.storage.disk.ForwardingFile;
import stoa.storage.disk.SimulatedDisk;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.running.Request;
import stoa.store.running.StoreTransaction;
import stoa.store.threads.Threads;

/// Which syncs a call waits for that calls other keys, and what nobody sees before they are over.
@Timeout(60)
class AnswerGateTest {
  private static final Existence ANY = new Existence.Any(null);
  private static final StoreTransaction.Bounds READS =
      new StoreTransaction.Bounds(StoreTransaction.Access.READS, 60_000_000, 1_000, 1 << 20);

  private final SimulatedDisk disk = new SimulatedDisk(7);
  private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();

  /// A disk whose syncs can be held up.
  private static final class HeldUp extends ForwardingDisk {
    // The sync that is held up waits for this; null when none is to be held up.
    private volatile @Nullable CountDownLatch goesOn;

    private final AtomicInteger syncs = new AtomicInteger();

    // Opens when a sync is held up.
    private volatile CountDownLatch begun = new CountDownLatch(1);

    private HeldUp(SimulatedDisk disk) {
      super(disk);
    }

    /// Holds up the syncs from now on.
    void holdUp() {
      begun = new CountDownLatch(1);
      goesOn = new CountDownLatch(1);
    }

    void awaitSync() throws InterruptedException {
      begun.await();
    }

    void letGo() {
      CountDownLatch waited = goesOn;
      goesOn = null;
      if (waited != null) waited.countDown();
    }

    @Override
    protected DiskFile wrap(DiskFile file) {
      return new ForwardingFile(file) {
        @Override
        public void sync() throws IOException {
          syncs.incrementAndGet();
          CountDownLatch waited = goesOn;
          if (waited != null) {
            begun.countDown();
            try {
              if (!waited.await(20, TimeUnit.SECONDS))
                throw new IOException("held up for too long");
            } catch (InterruptedException e) {
              throw new IOException(e);
            }
          }
          super.sync();
        }
      };
    }
  }

  /* A tick would sync what no answer waits for. */
  private static Store open(Disk on) {
    return Script.open(on, new Untimed(Threads.real()), Duration.ofSeconds(10), 64 << 20);
  }

  private static Request begin(Store store, String name, String line) {
    return store.putAsync(store.target(key(name)), Put.of(bytes(line)), Terms.expecting(ANY));
  }

  private static String said(Request request) {
    return text(request.answer().encoded());
  }

  private static Future<?> done(ExecutorService callers, Request request) {
    return callers.submit(request::await);
  }

  @Test
  void aCallAndAllThatItCallsShareOneSync() {
    var counted = new HeldUp(disk);
    try (Store store = open(counted)) {
      put(store, "a", "call b one"); // from now on the store knows that `a` calls others
      put(store, "a", "call b two");
      int before = counted.syncs.get();
      assertEquals("3:3:three", put(store, "a", "call b three"));
      assertEquals(1, counted.syncs.get() - before);
      assertEquals("one,two,three", lines(store, "b"));
    }
  }

  @Test
  void theCalledKeyGoesOnDuringTheSyncAndNoCallerSeesThat() throws Exception {
    var slow = new HeldUp(disk);
    try (Store store = open(slow)) {
      put(store, "a", "call b one");
      StreamKey stream = StreamKey.of("s");
      var told = new ConcurrentLinkedQueue<Long>();
      var _ = store.watch(key("b"), told::add);
      long shown = store.moment();
      int heard = told.size();
      slow.holdUp();
      Request outer = begin(store, "a", "call b two");
      slow.awaitSync();
      // All is executed, since the sync begins when the answer waits for it.
      assertFalse(outer.isDone());
      Request reader =
          store.getAsync(store.target(key("b")), "lines", Terms.expecting(ANY).at(Pace.SHORT));
      Request other = begin(store, "a", "call b three");
      Future<?> listed = callers.submit(() -> store.tail(key("b")));
      Future<?> appended =
          callers.submit(
              () -> store.userStreams().append(List.of(stream), List.of(bytes("x"))).get());
      try (StoreTransaction snapshot = store.begin(READS)) {
        var answer = snapshot.get(store.target(key("b")), "lines", ANY, Pace.SHORT);
        assertEquals("one", text(answer.encoded()));
        assertEquals(shown, snapshot.counter());
      }
      assertEquals("one", text(store.at(key("b"), shown).get("lines", ANY, Pace.SHORT).encoded()));
      assertEquals(heard, told.size());
      assertFalse(outer.isDone());
      assertFalse(reader.isDone());
      assertFalse(other.isDone());
      assertFalse(listed.isDone());
      slow.letGo();
      done(callers, outer).get();
      done(callers, reader).get();
      done(callers, other).get();
      listed.get();
      appended.get();
      assertEquals("2:2:two", said(outer));
      assertEquals("3:3:three", said(other));
      assertTrue(said(reader).startsWith("one,two"), said(reader));
      assertTrue(store.moment() > shown);
      assertEquals("one,two,three", lines(store, "b"));
      assertTrue(told.size() > heard);
    }
  }

  @Test
  void theAnswersOfAKeyComeInTheOrderInWhichItExecutedTheQuestions() throws Exception {
    var slow = new HeldUp(disk);
    try (Store store = open(slow)) {
      put(store, "a", "call b one");
      put(store, "c", "x");
      slow.holdUp();
      Request outer = begin(store, "a", "call b two");
      slow.awaitSync();
      var told = new ConcurrentLinkedQueue<Request>();
      Terms terms = Terms.expecting(ANY).at(Pace.SHORT);
      // This one reflects the call of `b`, and the next one only what is durable.
      Request asks = store.getAsync(store.target(key("c")), "ask b", terms);
      Request plain = store.getAsync(store.target(key("c")), "lines", terms);
      asks.whenDone(told::add);
      plain.whenDone(told::add);
      while (!plain.isHeld() && !plain.isDone()) Thread.onSpinWait();
      assertFalse(plain.isDone());
      slow.letGo();
      done(callers, outer).get();
      done(callers, asks).get();
      done(callers, plain).get();
      assertEquals(List.of(asks, plain), List.copyOf(told));
      assertEquals("x(one,two)", said(asks));
      assertEquals("x", said(plain));
    }
  }

  @Test
  void aFailedSyncFailsTheCallAndEveryReaderOfIt() throws Exception {
    var slow = new HeldUp(disk);
    Store store = open(slow);
    put(store, "a", "call b one");
    slow.holdUp();
    Request outer = begin(store, "a", "call b two");
    slow.awaitSync();
    Request reader =
        store.getAsync(store.target(key("b")), "lines", Terms.expecting(ANY).at(Pace.SHORT));
    disk.failSync(0);
    slow.letGo();
    done(callers, outer).get();
    done(callers, reader).get();
    assertInstanceOf(UnknownOutcome.class, outer.failure());
    assertInstanceOf(Unavailable.class, reader.failure());
    assertThrows(Unavailable.class, () -> put(store, "c", "x"));
    store.close();
  }

  @Test
  void aWatcherThatComesDuringTheSyncHearsOfTheChangeAfterIt() throws Exception {
    var slow = new HeldUp(disk);
    try (Store store = open(slow)) {
      put(store, "a", "call b one");
      long shown = store.moment();
      slow.holdUp();
      Request outer = begin(store, "a", "call b two");
      slow.awaitSync();
      var told = new ConcurrentLinkedQueue<Long>();
      var _ = store.watch(key("b"), told::add);
      assertTrue(told.stream().allMatch(counter -> counter <= shown), told::toString);
      slow.letGo();
      done(callers, outer).get();
      assertTrue(told.stream().anyMatch(counter -> counter > shown), told::toString);
    }
  }

  @Test
  void aKeyThatIsNotDurableDoesNotShowAfterItLeftMemory() throws Exception {
    var slow = new HeldUp(disk);
    Device device = Device.open(slow, DeviceConfig.standard());
    // No room: every key leaves memory when no request uses it.
    var config = new StoreConfig(Duration.ofSeconds(10), 10_000, 1, 16, Duration.ofSeconds(5));
    try (Store store =
        new Store(config, new LocalBatchLog(device), Clock.system(), new Untimed(Threads.real()))) {
      store.register("script", Script.FACTORY);
      put(store, "a", "call b one");
      slow.holdUp();
      Request outer = begin(store, "a", "call c one");
      slow.awaitSync();
      for (int i = 0; i < 4; i++) store.generationHint(key("other " + i));
      Future<Long> generation = callers.submit(() -> store.generation(key("c")));
      Request there = store.getAsync(store.target(key("c")), "lines", Terms.expecting(ANY));
      assertFalse(there.isDone());
      assertFalse(generation.isDone());
      slow.letGo();
      done(callers, outer).get();
      assertTrue(generation.get() > 0);
    }
  }

  @Test
  void aLossOfPowerDuringTheSyncTakesNothingThatWasAnswered() throws Exception {
    for (int seed = 0; seed < 20; seed++) {
      var powered = new SimulatedDisk(seed);
      var slow = new HeldUp(powered);
      Store store = open(slow);
      put(store, "a", "call b one");
      slow.holdUp();
      Request outer = begin(store, "a", "call b two");
      slow.awaitSync();
      SimulatedDisk after = powered.crash();
      slow.letGo();
      done(callers, outer).get();
      assertInstanceOf(UnknownOutcome.class, outer.failure(), "seed " + seed);
      store.close();
      try (Store again = Script.open(after)) {
        again.resume((_, name) -> key(text(name)));
        String b = lines(again, "b");
        assertTrue(b.equals("one") || b.equals("one,two"), "seed " + seed + ": " + b);
        String a = lines(again, "a");
        // What the log has of the call is executed whole.
        assertEquals(b.equals("one") ? "1:one" : "1:one,2:two", a, "seed " + seed);
      }
    }
  }

  @Test
  void aCallThatCallsNoOtherWaitsForItsOwnSyncFirst() throws Exception {
    var slow = new HeldUp(disk);
    try (Store store = open(slow)) {
      put(store, "a", "one");
      slow.holdUp();
      Request request = begin(store, "a", "two");
      slow.awaitSync();
      // Nothing shows it, as it is not executed.
      assertEquals("one", lines(store, "a"));
      slow.letGo();
      done(callers, request).get();
      assertEquals("2:two", said(request));
    }
  }
}
