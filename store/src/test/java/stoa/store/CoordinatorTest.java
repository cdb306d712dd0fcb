package stoa.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.store.Script.bytes;
import static stoa.store.Script.key;
import static stoa.store.Script.text;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import stoa.Aborted;
import stoa.Closed;
import stoa.LogAddress;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.base.Existence;
import stoa.log.Batch;
import stoa.log.BatchLog;
import stoa.log.BatchOutcome;
import stoa.log.LocalBatchLog;
import stoa.log.Token;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.ordering.Addresses;
import stoa.store.ordering.Coordinator;
import stoa.store.ordering.Vote;
import stoa.store.running.Request;
import stoa.store.running.StoreTransaction;
import stoa.store.threads.Threads;

class CoordinatorTest {
  private static final int STORES = 3;
  private static final int HOME = 0;
  private static final long TICK_MILLIS = 20;

  /* A store that is held waits for its holder when it is closed, who may never come. */
  private static final Duration CLOSE_TIME_MAX = Duration.ofMillis(50);
  private static final StoreConfig CONFIG =
      new StoreConfig(Duration.ofSeconds(10), 10_000, 64 << 20, 16, CLOSE_TIME_MAX);
  private static final StoreTransaction.Bounds BOUNDS =
      new StoreTransaction.Bounds(StoreTransaction.Access.WRITES, 60_000_000, 1_000, 1 << 20);

  /// A store in this process, which can be closed and opened again.
  private static final class Site implements Coordinator.Member {
    private final MemoryDisk disk = new MemoryDisk(64 << 20);
    private final Map<Coordinator.Part, StoreTransaction> open = new ConcurrentHashMap<>();
    private @Nullable Store store;
    private @Nullable Participant participant;
    private volatile Function<Batch, @Nullable BatchOutcome> trouble = _ -> null;
    private volatile int cutHolds;
    private volatile int cutCommits;

    void open(Addresses order, Clock clock) {
      var log = new LocalBatchLog(Device.open(disk, DeviceConfig.standard()));
      var troubled = new TroubledLog(log, batch -> trouble.apply(batch));
      var opened = new Store(CONFIG, troubled, order, null, clock, Threads.real());
      opened.register("script", Script.FACTORY);
      store = opened;
      participant = new Participant(opened, open::get);
    }

    void close() {
      store().close();
      store = null;
      participant = null;
      open.clear();
    }

    Store store() {
      Store is = store;
      if (is == null) throw new Unavailable("closed");
      return is;
    }

    Participant participant() {
      Participant is = participant;
      if (is == null) throw new Unavailable("closed");
      return is;
    }

    @Override
    public List<Vote> hold(long epoch, long term, long round, List<Coordinator.Part> parts) {
      var verdicts = participant().hold(epoch, term, round, parts);
      if (cutHolds > 0) {
        cutHolds = 0;
        throw new Unavailable("cut");
      }
      return verdicts;
    }

    @Override
    public void commit(
        long epoch, long round, Token token, SortedMap<Integer, Coordinator.Part> committed) {
      if (cutCommits > 0) {
        cutCommits = 0;
        throw new Unavailable("cut");
      }
      participant().commit(epoch, round, token, committed);
    }

    @Override
    public void release(long epoch, long round) {
      participant().release(epoch, round);
    }

    @Override
    public long adopt(long round, Addresses.Adopted adopted) {
      return participant().adopt(round, adopted);
    }

    @Override
    public long held(long horizon) {
      return participant().held(horizon);
    }
  }

  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<Site> sites = new ArrayList<>();
  private final AtomicLong numbers = new AtomicLong();
  private final AtomicLong refusals = new AtomicLong();

  /* By how much time jumps at each refusal, and has jumped. */
  private volatile long refusalMicros;
  private final AtomicLong aheadMicros = new AtomicLong();
  private final Clock clock = () -> Clock.system().nowMicros() + aheadMicros.get();
  private volatile Coordinator coordinator = coordinator();

  private Coordinator coordinator() {
    var members = new HashMap<Integer, Coordinator.Member>();
    for (int i = 0; i < sites.size(); i++) if (i != HOME) members.put(i, sites.get(i));
    return new Coordinator(HOME, members, threads, Clock.system());
  }

  @BeforeEach
  void open() {
    for (int i = 0; i < STORES; i++) sites.add(new Site());
    openHome();
    for (int i = 1; i < STORES; i++) sites.get(i).open(order(i), clock);
  }

  /// That of whoever is the coordinator.
  private Addresses order(int site) {
    return new Addresses() {
      @Override
      public Adopted adopt(long term, BatchLog.Tail tail) {
        return coordinator.of(site).adopt(term, tail);
      }

      @Override
      public long reserve(long term, int count, long decided) {
        try {
          return coordinator.of(site).reserve(term, count, decided);
        } catch (Closed | Unavailable nobody) {
          refusals.incrementAndGet();
          aheadMicros.addAndGet(refusalMicros);
          throw new Unavailable("nobody gives addresses: " + nobody.getMessage(), nobody);
        }
      }

      @Override
      public long moment() {
        return coordinator.of(site).moment();
      }

      @Override
      public long horizon() {
        return coordinator.of(site).horizon();
      }
    };
  }

  private void openHome() {
    coordinator = coordinator();
    Site home = sites.get(HOME);
    home.open(coordinator.home(), clock);
    coordinator.begin(home.participant());
  }

  @AfterEach
  void close() {
    sites.forEach(site -> {
      if (site.store != null) site.close();
    });
    threads.close();
  }

  private String put(int site, String name, String line) {
    return Script.put(sites.get(site).store(), name, line);
  }

  private String lines(int site, String name) {
    return Script.lines(sites.get(site).store(), name);
  }

  /// A transaction over some of the stores.
  private final class Across {
    private final LogAddress at;
    private final SortedMap<Integer, Coordinator.Part> parts = new TreeMap<>();

    Across() {
      at = new LogAddress(sites.get(HOME).store().epoch(), coordinator.of(1).moment());
    }

    private StoreTransaction on(int site) {
      var part =
          parts.computeIfAbsent(site, _ -> new Coordinator.Part(1, numbers.incrementAndGet()));
      return sites
          .get(site)
          .open
          .computeIfAbsent(part, _ -> sites.get(site).store().begin(BOUNDS, at));
    }

    Across put(int site, String name, String line) {
      var target = sites.get(site).store().target(key(name));
      on(site).put(target, bytes(line), new Existence.Any(null), Pace.LONG);
      return this;
    }

    String lines(int site, String name) {
      var target = sites.get(site).store().target(key(name));
      return text(on(site).get(target, "lines", new Existence.Any(null), Pace.LONG).encoded());
    }

    LogAddress commit() {
      try {
        // As a server does: a store that did not answer in time is told again.
        var outcome = coordinator.commit(UUID.randomUUID(), parts);
        while (true) {
          try {
            return outcome.get(TICK_MILLIS, TimeUnit.MILLISECONDS);
          } catch (TimeoutException later) {
            coordinator.tick();
          }
        }
      } catch (ExecutionException failed) {
        if (failed.getCause() instanceof RuntimeException cause) throw cause;
        throw new AssertionError(failed);
      } catch (InterruptedException stopped) {
        throw new AssertionError(stopped);
      } finally {
        parts.forEach((site, part) -> {
          StoreTransaction open = sites.get(site).open.remove(part);
          if (open != null) open.close();
        });
      }
    }
  }

  @Test
  void commitsOverStoresAtOneAddress() {
    put(0, "a", "0");
    put(1, "b", "0");
    LogAddress at = new Across().put(0, "a", "x").put(1, "b", "y").put(2, "c", "z").commit();
    assertEquals("0,x", lines(0, "a"));
    assertEquals("0,y", lines(1, "b"));
    assertEquals("z", lines(2, "c"));
    for (int i = 0; i < STORES; i++) {
      var stream = key("abc".substring(i, i + 1)).stream();
      var last = sites.get(i).store().engine().streams().read(stream, i == 2 ? 1 : 2);
      assertEquals(at, last == null ? null : last.log());
    }
    assertEquals("3:1", put(1, "b", "1"));
  }

  @Test
  void refusesWhatHasChangedMeanwhile() {
    put(1, "b", "0");
    var one = new Across().put(1, "b", "y").put(2, "c", "z");
    assertEquals("0", new Across().lines(1, "b"));
    put(1, "b", "1");
    assertThrows(Aborted.class, one::commit);
    assertEquals("0,1", lines(1, "b"));
    assertEquals("1:2", put(2, "c", "2"));
  }

  @Test
  void seesOneMomentEverywhere() {
    put(1, "b", "0");
    put(2, "c", "0");
    var before = new Across();
    put(1, "b", "1");
    put(2, "c", "1");
    assertEquals("0", before.lines(2, "c"));
    assertEquals("0", before.lines(1, "b"));
    var after = new Across();
    assertEquals("0,1", after.lines(1, "b"));
    assertEquals("0,1", after.lines(2, "c"));
  }

  /* It gives no addresses before it has told the store, for which it holds all up there. */
  @Test
  void aNewCoordinatorIsNotKeptOutByABatchThatWaitsForAddresses() throws Exception {
    put(1, "b", "0");
    sites.get(HOME).close();
    Future<String> waiting = threads.submit(() -> put(1, "b", "1"));
    while (refusals.get() == 0) Thread.onSpinWait();
    openHome();
    assertEquals("2:1", waiting.get());
    assertEquals("0,1", lines(1, "b"));
  }

  @Test
  void aQuestionThatAsksOthersWaitsForWhatHasALowerAddressThanWhatWasAnsweredElsewhere()
      throws Exception {
    put(1, "b", "0");
    put(1, "d", "0");
    var reached = new CountDownLatch(1);
    var goOn = new CountDownLatch(1);
    sites.get(1).trouble =
        _ -> {
          reached.countDown();
          try {
            goOn.await();
          } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
          }
          return null;
        };
    Store store = sites.get(1).store();
    var any = new Existence.Any(null);
    Request first =
        store.putAsync(store.target(key("d")), Put.of(bytes("1")), Terms.expecting(any));
    reached.await();
    put(2, "c", "after it");
    var answered = new CompletableFuture<Request>();
    store
        .getAsync(
            store.target(key("b")),
            "ask d",
            Terms.expecting(any).at(Pace.LONG).within(CONFIG.callTimeMax()).alone())
        .whenDone(answered::complete);
    goOn.countDown();
    Request question = answered.get();
    assertTrue(question.isMoved());
    try (var moment = store.beginQuestion(question)) {
      var both = moment.get(store.target(key("b")), "ask d", any, Pace.LONG);
      assertEquals("0(0,1)", text(both.encoded()));
    }
    assertEquals("2:1", text(first.answer().encoded()));
  }

  @Test
  void anOwnerThatIsInAnotherEpochDoesNotSayThatItsStoreIsLetGo() {
    put(1, "b", "0");
    var site = sites.get(1);
    long epoch = site.store().epoch();
    site.release(epoch, 0);
    site.release(epoch - 1, 0); // an earlier coordinator's
    assertThrows(Unavailable.class, () -> site.release(epoch + 1, 0));
  }

  @Test
  void finishesWhatWasDecidedWhenAStoreWasCutOff() {
    put(1, "b", "0");
    var across = new Across().put(1, "b", "y").put(2, "c", "z");
    sites.get(1).cutCommits = 1;
    assertTrue(across.commit().counter() > 0);
    while (!sites.get(1).store().hasFailed()) coordinator.tick();
    assertThrows(Unavailable.class, () -> lines(1, "b")); // nobody sees it without
    sites.get(1).close();
    sites.get(1).open(order(1), clock);
    assertEquals("0,y", lines(1, "b"));
    assertEquals("z", lines(2, "c"));
    assertEquals("3:1", put(1, "b", "1"));
  }

  @Test
  void finishesWhatWasDecidedWhenAStoreWasOpenedAgain() {
    put(1, "b", "0");
    var across = new Across().put(1, "b", "y").put(2, "c", "z");
    sites.get(1).cutCommits = 1;
    assertTrue(across.commit().counter() > 0);
    sites.get(1).close();
    sites.get(1).open(order(1), clock);
    assertEquals("0,y", lines(1, "b"));
    assertEquals("3:1", put(1, "b", "1"));
    assertEquals("z", lines(2, "c"));
  }

  @Test
  void triesAgainWhenNobodyHeardThatAStoreIsHeld() {
    put(1, "b", "0");
    sites.get(1).cutHolds = 1;
    Future<LogAddress> outcome =
        threads.submit(() -> new Across().put(1, "b", "y").put(2, "c", "z").commit());
    while (!outcome.isDone()) coordinator.tick();
    assertTrue(resolved(outcome).counter() > 0);
    assertEquals("0,y", lines(1, "b"));
  }

  private static LogAddress resolved(Future<LogAddress> outcome) {
    try {
      return outcome.get();
    } catch (Exception failed) {
      throw new AssertionError(failed);
    }
  }

  @Test
  void goesOnWithAnotherCoordinator() {
    put(1, "b", "0");
    new Across().put(0, "a", "x").put(1, "b", "y").commit();
    sites.get(HOME).close();
    refusalMicros = 20_000_000;
    assertThrows(Unavailable.class, () -> put(1, "b", "lost"));
    refusalMicros = 0;
    openHome();
    while (!goesOn()) Thread.onSpinWait();
    new Across().put(0, "a", "x2").put(1, "b", "y2").put(2, "c", "z").commit();
    assertTrue(lines(1, "b").endsWith("y2"), lines(1, "b"));
    assertEquals("x,x2", lines(0, "a"));
  }

  private boolean goesOn() {
    coordinator.tick();
    try {
      put(1, "b", "on");
      put(2, "d", "on");
      return true;
    } catch (Unavailable notYet) {
      assertInstanceOf(Unavailable.class, notYet);
      return false;
    }
  }

  @Test
  void neverLosesAnUpdateOverStores() throws Exception {
    for (int i = 0; i < STORES; i++) put(i, "k", "0");
    int callers = 12;
    int turns = 20;
    var ends = new ArrayList<Future<Integer>>();
    for (int c = 0; c < callers; c++) {
      int caller = c;
      ends.add(
          threads.submit(() -> {
            int aborted = 0;
            for (int turn = 0; turn < turns; turn++) {
              int one = (caller + turn) % STORES;
              int two = (one + 1) % STORES;
              while (true) {
                var across = new Across();
                try {
                  assertEquals(across.lines(one, "k").isEmpty(), false);
                  across.put(one, "k", "c" + caller + "t" + turn);
                  across.put(two, "k", "c" + caller + "t" + turn);
                  across.commit();
                  break;
                } catch (Aborted again) {
                  aborted++;
                }
              }
              put(two, "own" + caller, "s" + turn);
            }
            return aborted;
          }));
    }
    for (var end : ends) end.get();
    int sum = 0;
    for (int i = 0; i < STORES; i++) sum += lines(i, "k").split(",").length - 1;
    assertEquals(callers * turns * 2, sum);
  }
}
