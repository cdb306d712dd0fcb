package stoa.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.store.Script.bytes;
import static stoa.store.Script.key;
import static stoa.store.Script.text;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import stoa.Deadlock;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Clock;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.log.LocalBatchLog;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.store.calls.Neighbors;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.calls.Visit;
import stoa.store.ordering.Addresses;
import stoa.store.ordering.Coordinator;
import stoa.store.ordering.Vote;
import stoa.store.threads.Threads;

/// Handlers that call keys of other stores. The name of a key begins with the number of its store.
class CrossGroupCallsTest {
  private static final int STORES = 3;
  private static final Existence ANY = new Existence.Any(null);
  private static final long HOUR_MICROS = 3_600_000_000L;
  private static final StoreConfig CONFIG =
      new StoreConfig(Duration.ofSeconds(10), 10_000, 64 << 20, 16, Duration.ofMillis(50));

  /// The threads of a store.
  private java.util.function.Supplier<Threads> running = Threads::real;

  /// A store in this process, and the way from it to the others.
  private final class Site implements Neighbors {
    private final MemoryDisk disk = new MemoryDisk(64 << 20);
    private final int number;
    private volatile @Nullable Store store;

    /// Whether nobody answers.
    private volatile boolean cut;

    /// Whether what was answered is lost.
    private volatile boolean deaf;

    /// Told of each question.
    private volatile Consumer<Visit> asked = _ -> {};

    Site(int number) {
      this.number = number;
    }

    void open() {
      var log = new LocalBatchLog(Device.open(disk, DeviceConfig.standard()));
      Addresses order = number == 0 ? coordinator.home() : coordinator.of(number);
      var opened = new Store(CONFIG, log, order, this, clock, running.get());
      opened.register("script", Script.FACTORY);
      store = opened;
      if (number == 0) coordinator.begin(new Participant(opened, _ -> null));
    }

    void close() {
      store().close();
      store = null;
    }

    Store store() {
      Store is = store;
      if (is == null) throw new Unavailable("closed");
      return is;
    }

    @Override
    public boolean have(Key key) {
      return CrossGroupCallsTest.number(key) != number;
    }

    @Override
    public Visit.Reply visit(Visit visit, int ticks) {
      asked.accept(visit);
      if (cut) throw new Unavailable("cut");
      Visit.Reply said = site(visit.target()).store().visit(visit, ticks);
      if (deaf) throw new Unavailable("lost");
      return said;
    }

    @Override
    public Visit.NextWait follow(Key target, Visit.Id id) {
      return site(target).store().follow(id);
    }

    @Override
    public void refuse(Key target, Visit.Id id, long waits, Deadlock why) {
      site(target).store().refuse(id, waits, why);
    }
  }

  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final AtomicLong aheadMicros = new AtomicLong();
  private final Clock clock = () -> Clock.system().nowMicros() + aheadMicros.get();
  private final List<Site> sites = new ArrayList<>();
  private Coordinator coordinator;

  CrossGroupCallsTest() {
    for (int i = 0; i < STORES; i++) sites.add(new Site(i));
    var members = new HashMap<Integer, Coordinator.Member>();
    for (int i = 1; i < STORES; i++) members.put(i, new Alone(sites.get(i)));
    coordinator = new Coordinator(0, members, threads, clock);
  }

  /// No transaction is over several stores here.
  private record Alone(Site site) implements Coordinator.Member {
    private Participant participant() {
      return new Participant(site.store(), _ -> null);
    }

    @Override
    public List<Vote> hold(long epoch, long term, long round, List<Coordinator.Part> parts) {
      return participant().hold(epoch, term, round, parts);
    }

    @Override
    public void commit(
        long epoch,
        long round,
        stoa.log.Token token,
        java.util.SortedMap<Integer, Coordinator.Part> committed) {
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

  @BeforeEach
  void open() {
    sites.forEach(Site::open);
  }

  @AfterEach
  void close() {
    for (Site site : sites) {
      site.cut = true;
      if (site.store != null) site.close();
    }
    threads.shutdownNow();
  }

  private static int number(Key key) {
    return text(key.name()).charAt(0) - '0';
  }

  private Site site(Key key) {
    return sites.get(number(key));
  }

  private Site site(String name) {
    return site(key(name));
  }

  private String put(String name, String line) {
    return Script.put(site(name).store(), name, line);
  }

  private String lines(String name) {
    return Script.lines(site(name).store(), name);
  }

  private Future<String> putLater(String name, String line) {
    return threads.submit(() -> put(name, line));
  }

  private Visit visit(int call, String target, String line, Existence existence, int millisMax) {
    var caller = key("0a");
    var id = new Visit.Id(caller.stream(), call, 1, 0);
    long counter = coordinator.of(1).moment();
    return new Visit(
        id,
        Visit.Kind.PUT,
        key(target),
        bytes(line),
        existence,
        counter,
        List.of(caller),
        millisMax);
  }

  /// What a question comes to, asked as often as it takes.
  private String answer(Visit visit) {
    while (true) {
      byte[] answer = site(visit.target()).store().visit(visit, 1).answer();
      if (answer != null) return text(answer);
    }
  }

  private void await(java.util.function.BooleanSupplier holds) {
    while (!holds.getAsBoolean()) Thread.onSpinWait();
  }

  @Test
  void handlersCallKeysOfOtherStoresAndAskThem() {
    assertEquals("1:1:x", put("0a", "call 1b x"));
    assertEquals("1:2:y", put("2c", "call 1b y"));
    assertEquals("2:(x,y)", put("0a", "ask 1b"));
    assertEquals("1:1:1:z", put("0d", "call 1d call 2d z"));
  }

  @Test
  void whatWasAskedIsPutOnceWhoeverLeadsTheStore() {
    Visit visit = visit(1, "1b", "x", ANY, 0);
    assertEquals("1:x", answer(visit));
    assertEquals("1:x", answer(visit));
    site("1b").close();
    site("1b").open();
    assertEquals("1:x", answer(visit));
    assertEquals("2:y", answer(visit(2, "1b", "y", ANY, 0)));
    assertEquals("x,y", lines("1b"));
  }

  @Test
  void whatIsLoggedOfACallIsBehindItsCaller() {
    Visit visit = visit(1, "1b", "x", ANY, 0);
    put("1b", "before");
    put("2c", "before");
    Visit later = visit(2, "1b", "y", ANY, 0);
    answer(visit);
    answer(later);
    var stream = key("1b").stream();
    var logged = site("1b").store().engine().streams().read(stream, 3);
    assertTrue(java.util.Objects.requireNonNull(logged).log().counter() > later.counter());
  }

  @Test
  void whatWasRefusedStaysRefused() {
    put("1b", "there");
    Visit creates = visit(1, "1b", "x", new Existence.Absent(null), 0);
    assertEquals("AlreadyExists", answer(creates));
    Store store = site("1b").store();
    store.delete(store.target(key("1b")), Terms.expecting(ANY));
    // Another half of the question, that comes late.
    assertEquals("AlreadyExists", answer(creates));
    site("1b").close();
    site("1b").open();
    assertEquals("AlreadyExists", answer(creates));
    assertEquals("", lines("1b"));
    assertEquals("1:x", answer(visit(2, "1b", "x", new Existence.Absent(null), 0)));
  }

  @Test
  void aCallThatIsGivenLittleTimeGivesWhatIsLeftOfIt() {
    var millis = new AtomicInteger();
    site("0a").asked = visit -> millis.set(visit.millisMax());
    Store store = site("0a").store();
    var request =
        store.putAsync(
            store.target(key("0a")),
            Put.of(bytes("call 1b spin")),
            Terms.expecting(ANY).within(Duration.ofSeconds(1)));
    await(() -> millis.get() > 0);
    assertTrue(millis.get() <= 1_000, "" + millis);
    await(request::isDone);
    assertFalse(lines("1b").contains("spinning"));
    Visit late = visit(7, "1c", "spin", ANY, 100);
    assertEquals("DeadlineExceeded", answer(late));
    assertEquals("DeadlineExceeded", answer(late));
    assertEquals("", lines("1c"));
  }

  @Test
  void aCallBackIntoItsOwnPathIsRefused() {
    assertEquals("1:1:1:Deadlock", put("0a", "call 1b call 2c call 0a x"));
    assertEquals("1:1:Deadlock", lines("0a"));
  }

  /// Two calls that meet: each is on its way when the other one begins.
  private List<Future<String>> cross(String one, String other) {
    var both = new CountDownLatch(2);
    Consumer<Visit> meet =
        _ -> {
          both.countDown();
          try {
            both.await();
          } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
          }
        };
    site(one).asked = meet;
    site(other).asked = meet;
    return List.of(putLater(one, "call " + other + " x"), putLater(other, "call " + one + " y"));
  }

  @Test
  void ofCallsThatCrossTheOneWithTheGreatestIdentityIsTakenBack() throws Exception {
    for (int i = 0; i < 5; i++) {
      String one = "0a" + i;
      String other = "1b" + i;
      var calls = cross(one, other);
      boolean firstIsGreater =
          key(one).stream().toString().compareTo(key(other).stream().toString()) > 0;
      String refused = calls.get(firstIsGreater ? 0 : 1).get();
      String done = calls.get(firstIsGreater ? 1 : 0).get();
      assertEquals("1:Deadlock", refused);
      assertEquals(firstIsGreater ? "1:2:y" : "1:2:x", done);
    }
  }

  @Test
  void callsThatCrossAreFoundWhenTheSecondArrivesAndNotSomeTimeLater() throws Exception {
    running = () -> new Untimed(Threads.real());
    for (Site site : List.of(site("1a"), site("2b"))) {
      site.close();
      site.open();
    }
    for (int i = 0; i < 5; i++) {
      for (var call : cross("1a" + i, "2b" + i)) assertTrue(call.get().startsWith("1:"));
    }
  }

  @Test
  void aStoreThatOpensDoesNotWaitForCallsThatWaitForOthers() throws Exception {
    Site home = site("2a");
    home.deaf = true;
    Future<String> waits = putLater("2a", "call 1b x");
    await(() -> lines("1b").equals("x"));
    home.cut = true;
    home.close();
    assertThrows(Exception.class, waits::get);
    home.open();
    home.store().resume((space, name) -> key(text(name)));
    assertEquals("1:y", put("2c", "y"));
    home.cut = false;
    home.deaf = false;
    assertEquals("1:x", lines("2a"));
    assertEquals("x", lines("1b"));
  }

  @Test
  void whoIsNotAnsweredForTooLongIsToldAndTheCallGoesOnLater() throws Exception {
    Site from = site("2a");
    from.cut = true;
    var first = new CountDownLatch(1);
    from.asked = _ -> first.countDown();
    Future<String> waits = putLater("2a", "call 1b x");
    first.await();
    aheadMicros.addAndGet(60_000_000);
    var failed = assertThrows(java.util.concurrent.ExecutionException.class, waits::get);
    assertInstanceOf(UnknownOutcome.class, failed.getCause());
    from.store().resume((space, name) -> key(text(name)));
    from.cut = false;
    await(() -> lines("1b").equals("x"));
    assertEquals("1:x", lines("2a"));
  }

  @Test
  void whatIsTooLongAgoToBeKnownEndsTheCall() throws Exception {
    Site from = site("2a");
    from.deaf = true;
    Future<String> waits = putLater("2a", "call 1b x");
    await(() -> lines("1b").equals("x"));
    aheadMicros.addAndGet(2 * HOUR_MICROS);
    assertThrows(Exception.class, waits::get);
    put("1b", "y");
    Store visited = site("1b").store();
    // Within the hour, what was called is known.
    aheadMicros.addAndGet(2 * HOUR_MICROS);
    put("1b", "z");
    assertTrue(visited.trim(key("1b"), 3) >= 2);
    from.deaf = false;
    assertEquals("CallFailed", lines("2a"));
    assertEquals("x,y,z", lines("1b"));
    from.close();
    from.open();
    assertEquals("CallFailed", lines("2a"));
  }

  @Test
  void whatHandlersMayLookForYetIsNotReleased() {
    put("1b", "0");
    Store store = site("1b").store();
    assertEquals("1:2:x", put("2a", "call 1b x"));
    put("1b", "y");
    assertEquals(1, store.trim(key("1b"), 3));
    aheadMicros.addAndGet(2 * HOUR_MICROS);
    put("1b", "later");
    assertEquals(3, store.trim(key("1b"), 3));
  }

  @Test
  void aCallThatComesLateFindsThatItIsNotThereWhenOtherThingsAreReleased() throws Exception {
    Site from = site("2a");
    from.cut = true;
    var first = new CountDownLatch(1);
    from.asked = _ -> first.countDown();
    Future<String> waits = putLater("2a", "call 1b x");
    first.await();
    Store store = site("1b").store();
    String large = "l".repeat(70_000); // and a checkpoint
    for (int i = 0; i < 3; i++) put("1b", large);
    assertEquals(3, store.trim(key("1b"), 3));
    assertTrue(store.engine().streams().firstKept(key("1b").stream()) > 1);
    from.cut = false;
    assertEquals("1:4:x", waits.get());
    assertTrue(lines("1b").endsWith("l,x"));
  }

  /// Begins a visit as another group does, which repeats what is refused: for a moment, a key may
  /// need one of the threads for itself.
  private static Visit.Reply begin(Store store, Visit visit) {
    while (true) {
      try {
        return store.visit(visit, 1);
      } catch (Unavailable again) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void asManyHandlersWaitAsThereAreThreadsForAndOneMoreIsTurnedAway() throws Exception {
    Store store = site("1b").store();
    var blocked =
        store.putAsync(
            store.target(key("1b")),
            Put.of(bytes("spin")),
            Terms.expecting(ANY).within(Duration.ofMinutes(1)));
    await(() -> store.calls(1).stream().anyMatch(call -> call.key().equals(key("1b"))));
    var begun = new ArrayList<Future<Visit.Reply>>();
    for (int i = 1; i <= Threads.VISITORS_MAX; i++) {
      Visit visit = visit(i, "1b", "" + i, ANY, 0);
      begun.add(threads.submit(() -> begin(store, visit)));
    }
    for (var said : begun) assertNull(said.get().answer());
    Visit more = visit(Threads.VISITORS_MAX + 1, "1b", "more", ANY, 0);
    var full = assertThrows(Unavailable.class, () -> store.visit(more, 1));
    assertTrue(full.toString().contains("" + Threads.VISITORS_MAX), full::toString);
    assertFalse(blocked.isDone());
    assertTrue(store.cancel(store.calls(1).getFirst().id()) || blocked.isDone());
    await(() -> {
      try {
        return answer(more).endsWith(":more");
      } catch (Unavailable notYet) {
        return false;
      }
    });
  }
}
