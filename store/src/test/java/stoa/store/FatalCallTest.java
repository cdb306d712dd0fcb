package stoa.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.Deadlock;
import stoa.Diverged;
import stoa.base.Answer;
import stoa.base.Clock;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.log.LocalBatchLog;
import stoa.log.Streams;
import stoa.storage.Device;
import stoa.storage.RunningCalls;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.SimulatedDisk;
import stoa.store.calls.HandlerQuery;
import stoa.store.calls.Neighbors;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.calls.Visit;
import stoa.store.divergence.Quarantine;
import stoa.store.past.Past;
import stoa.store.running.Execution;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;
import stoa.store.running.Materialized;
import stoa.store.running.Request;
import stoa.store.threads.Threads;

/// Calls that end the process which executes them: what such a process leaves is a copy of its disk
/// at that moment.
class FatalCallTest {
  private static final Key A = Key.of("fragile", "a");
  private static final Key B = Key.of("fragile", "b");
  private static final Existence ANY = new Existence.Any(null);
  private static final StoreConfig CONFIG =
      new StoreConfig(Duration.ofSeconds(10), 10_000, 64 << 20, 16, Duration.ofSeconds(5));

  private volatile SimulatedDisk disk = new SimulatedDisk(1);
  private volatile boolean isDeadly = true;
  private volatile boolean isBroken;

  // Done by puts that end with "hold", while they run.
  private volatile Runnable held = () -> {};

  // The thread on which a put calls another key.
  private volatile @Nullable Thread calling;
  private final AtomicInteger deaths = new AtomicInteger();
  private @Nullable RunningCalls running;

  /// A question.
  private record Asked(String text) implements HandlerQuery {
    @Override
    public int number() {
      return text.hashCode();
    }
  }

  private static final class Died extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Died() {
      super("the process has ended");
    }
  }

  private final class Fragile implements Handler {
    private final List<String> lines = new ArrayList<>();

    @Override
    public Answer put(byte[] value, Execution execution) {
      String line = Script.text(value);
      take(line);
      if (line.startsWith("call b")) {
        calling = Thread.currentThread();
        var _ = execution.put(B, Script.bytes("x"), ANY);
      }
      if (line.equals("call another group")) {
        var _ = execution.visit(Visit.Kind.PUT, B, "x", ANY);
      }
      if (line.endsWith("hold")) held.run();
      lines.add(line);
      return new Script.Said(String.join(",", lines));
    }

    @Override
    public Answer get(@Nullable Object query, Execution execution) {
      take(((Asked) Objects.requireNonNull(query)).text());
      return new Script.Said(String.join(",", lines));
    }

    private void take(String line) {
      if (isBroken && line.equals("die")) throw new IllegalStateException("broken");
      if (!line.equals("die") || !isDeadly) return;
      deaths.incrementAndGet();
      disk = disk.kill();
      throw new Died();
    }

    @Override
    public byte[] checkpoint() {
      return Script.bytes(String.join("\n", lines));
    }
  }

  private final class Factory implements HandlerFactory {
    @Override
    public Handler create(Key key, byte @Nullable [] opening, Execution execution) {
      return new Fragile();
    }

    @Override
    public Handler restore(Key key, byte[] checkpoint) {
      var fragile = new Fragile();
      fragile.lines.addAll(Script.text(checkpoint).lines().toList());
      return fragile;
    }

    @Override
    public String method(Key key, byte[] value) {
      return Script.text(value) + "()";
    }

    @Override
    public Answer failure(RuntimeException cause) {
      return new Script.Said(cause.toString());
    }
  }

  private Store open() {
    return open(null);
  }

  private Store open(@Nullable Neighbors others) {
    var device = Device.open(disk, DeviceConfig.standard());
    running = device.running();
    var log = new LocalBatchLog(device);
    var store = new Store(CONFIG, log, null, others, Clock.system(), Threads.real());
    store.noteRuns(device.running());
    store.register("fragile", new Factory());
    return store;
  }

  private static String put(Store store, Key key, String line) {
    var request = store.put(store.target(key), Put.of(Script.bytes(line)), Terms.expecting(ANY));
    return Script.text(request.answer().encoded());
  }

  /// Puts a value for a caller that may lose its answer with the process.
  private static void putUnanswered(Store store, Key key, String line) {
    try {
      var _ = put(store, key, line);
    } catch (RuntimeException lost) {
      // the process has ended
    }
  }

  private static String ask(Store store, Key key, String question) {
    var request = store.get(store.target(key), new Asked(question), Terms.expecting(ANY));
    return Script.text(request.answer().encoded());
  }

  /// Two processes end in the second put of a key.
  private void dieTwice() {
    try (var store = open()) {
      put(store, A, "x");
      put(store, B, "y");
      assertThrows(RuntimeException.class, () -> put(store, A, "die"));
    }
    try (var store = open()) {
      assertEquals("y", ask(store, B, "all"));
      assertThrows(RuntimeException.class, () -> ask(store, A, "all"));
    }
    assertEquals(2, deaths.get());
  }

  private static void assertNamesTheCall(Diverged refusal) {
    String message = String.valueOf(refusal.getMessage());
    assertTrue(message.contains("fragile[a] is quarantined"), message);
    assertTrue(message.contains("version 2 (die())"), message);
  }

  @Test
  void aPutThatHasEndedTheProcessTwiceIsNotExecutedAgainAndNothingMoreIsLogged() {
    dieTwice();
    try (var store = open()) {
      assertNamesTheCall(assertThrows(Diverged.class, () -> put(store, A, "z")));
      assertEquals(2, store.engine().streams().last(A.stream()), "nothing was logged");
      assertNamesTheCall(assertThrows(Diverged.class, () -> ask(store, A, "all")));
      assertEquals("y", ask(store, B, "all"));
      assertEquals("y,w", put(store, B, "w"));
      assertEquals(1, store.diverged().size());
      Past before = store.past(A, 1);
      assertEquals(1, before.position());
      while (store.engine().streams().last(Quarantine.KEY.stream()) == 0) Thread.onSpinWait();
    }
    assertEquals(2, deaths.get());
    // It is in the log: a process that knows nothing of the others does not execute it either.
    disk = disk.copy();
    try (var store = open()) {
      assertFalse(Objects.requireNonNull(running).hasFailures());
      assertNamesTheCall(assertThrows(Diverged.class, () -> put(store, A, "z")));
    }
    assertEquals(2, deaths.get());
  }

  @Test
  void aQuestionIsRefusedAtOnceToo() {
    dieTwice();
    try (var store = open()) {
      assertNamesTheCall(assertThrows(Diverged.class, () -> ask(store, A, "all")));
    }
    assertEquals(2, deaths.get());
  }

  @Test
  void deletionEndsIt() {
    dieTwice();
    try (var store = open()) {
      assertThrows(Diverged.class, () -> put(store, A, "z"));
      store.delete(store.target(A), Terms.expecting(ANY));
      assertEquals("new", put(store, A, "new"));
      assertEquals("new", ask(store, A, "all"));
    }
    try (var store = open()) {
      assertEquals("new", ask(store, A, "all"));
    }
    assertEquals(2, deaths.get());
  }

  @Test
  void anOperatorAcceptsTheStateWithoutIt() {
    dieTwice();
    try (var store = open()) {
      assertThrows(Diverged.class, () -> put(store, A, "z"));
      assertTrue(store.accept(A));
      assertEquals("x", ask(store, A, "all"));
      assertEquals("x,z", put(store, A, "z"));
      assertTrue(store.diverged().isEmpty());
    }
    try (var store = open()) {
      assertEquals("x,z", ask(store, A, "all"));
      assertFalse(Objects.requireNonNull(running).hasFailures());
    }
    assertEquals(2, deaths.get());
  }

  @Test
  void aCallThatComesToItsEndIsForgiven() {
    try (var store = open()) {
      put(store, A, "x");
      assertThrows(RuntimeException.class, () -> put(store, A, "die"));
    }
    isDeadly = false;
    try (var store = open()) {
      assertTrue(Objects.requireNonNull(running).hasFailures());
      assertEquals("x,die", ask(store, A, "all"));
      assertFalse(Objects.requireNonNull(running).hasFailures());
    }
  }

  @Test
  void aQuestionThatHasEndedTheProcessTwiceIsNotAskedAgainAndOthersAre() {
    for (int i = 0; i < 2; i++) {
      try (var store = open()) {
        put(store, A, "x" + i);
        assertThrows(RuntimeException.class, () -> ask(store, A, "die"));
      }
    }
    try (var store = open()) {
      var refusal = assertThrows(Diverged.class, () -> ask(store, A, "die"));
      assertTrue(String.valueOf(refusal.getMessage()).contains("fragile[a]"));
      assertEquals("x0,x1", ask(store, A, "all"));
      assertEquals("x0,x1,z", put(store, A, "z"));
    }
    assertEquals(2, deaths.get());
  }

  @Test
  void aCallThatEndsWithAnErrorOfTheStoreIsForgivenToo() {
    try (var store = open()) {
      put(store, A, "x");
      assertThrows(RuntimeException.class, () -> put(store, A, "die"));
    }
    isBroken = true;
    try (var store = open()) {
      assertTrue(Objects.requireNonNull(running).hasFailures());
      assertThrows(RuntimeException.class, () -> ask(store, A, "all"));
      assertFalse(Objects.requireNonNull(running).hasFailures());
    }
  }

  /// Returns what the next process knows of the runs during which the last one has ended.
  private List<RunningCalls.Failure> suspected() {
    try (var device = Device.open(disk, DeviceConfig.standard())) {
      return device.running().failures();
    }
  }

  @Test
  void aCallThatWaitsForAnotherOneIsNotSuspected() throws Exception {
    try (var store = open()) {
      var begun = new CountDownLatch(1);
      held =
          () -> {
            begun.countDown();
            awaitWaiting();
            disk = disk.kill();
          };
      var other = Thread.ofPlatform().start(() -> putUnanswered(store, B, "hold"));
      begun.await();
      putUnanswered(store, A, "call b");
      other.join();
    }
    assertEquals(List.of(new RunningCalls.Failure(B.stream(), 1, 1)), suspected());
  }

  /// Returns when a handler waits for the put that it makes on another key.
  private void awaitWaiting() {
    while (true) {
      Thread caller = calling;
      if (caller != null && LockSupport.getBlocker(caller) instanceof Request) return;
      Thread.onSpinWait();
    }
  }

  @Test
  void aCallThatGoesOnAfterItHasWaitedIsSuspectedAgain() {
    try (var store = open()) {
      held = () -> disk = disk.kill();
      putUnanswered(store, A, "call b and hold");
    }
    assertEquals(List.of(new RunningCalls.Failure(A.stream(), 1, 1)), suspected());
  }

  /// Another group, of which every key but [#A] is. The process ends while it is asked.
  private final class OtherGroup implements Neighbors {
    @Override
    public boolean have(Key key) {
      return !key.equals(A);
    }

    @Override
    public Visit.Reply visit(Visit visit, int ticks) {
      disk = disk.kill();
      return new Visit.Reply(Script.bytes("done"), 0);
    }

    @Override
    public Visit.NextWait follow(Key target, Visit.Id id) {
      return Visit.NextWait.NONE;
    }

    @Override
    public void refuse(Key target, Visit.Id id, long waits, Deadlock why) {}
  }

  @Test
  void aCallThatWaitsForAnotherGroupIsNotSuspected() {
    try (var store = open(new OtherGroup())) {
      putUnanswered(store, A, "call another group");
    }
    assertEquals(List.of(), suspected());
  }

  @Test
  void aCallThatIsUnderWayWhileItsStoreIsClosedIsNotSuspected() throws Exception {
    var store = open();
    var begun = new CountDownLatch(1);
    var closing = Thread.ofPlatform().unstarted(store::close);
    held =
        () -> {
          begun.countDown();
          // It waits for this call.
          while (closing.getState() != Thread.State.TIMED_WAITING) Thread.onSpinWait();
          disk = disk.kill();
        };
    var caller = Thread.ofPlatform().start(() -> putUnanswered(store, A, "hold"));
    begun.await();
    closing.start();
    caller.join();
    closing.join();
    assertEquals(List.of(), suspected());
  }

  /// Returns the state of a replica that follows, after processes of the replica have ended in the
  /// second put.
  private void following(int times, Consumer<Materialized> use) {
    isDeadly = false;
    try (var store = open()) {
      put(store, A, "x");
      put(store, A, "die");
    }
    isDeadly = true;
    for (int i = 0; i < times; i++) {
      try (var device = Device.open(disk, DeviceConfig.standard())) {
        Objects.requireNonNull(device.running().slot()).begin(A.stream(), 2);
        disk = disk.kill();
      }
    }
    var device = Device.open(disk, DeviceConfig.standard());
    running = device.running();
    try (device;
        var store = Store.following(CONFIG, new Streams(device), Clock.system(), Threads.real())) {
      store.noteRuns(device.running());
      store.register("fragile", new Factory());
      assertNull(store.engine().quarantine().refusal(A, 1), "the log has no quarantine");
      use.accept(store.engine().loader().trying(A));
    }
  }

  @Test
  void aReplicaThatFollowsExecutesOnceMoreWhatHasEndedItOnce() {
    following(
        1,
        state -> {
          isDeadly = false;
          state.load(2, 2);
        });
    assertFalse(Objects.requireNonNull(running).hasFailures());
  }

  @Test
  void aReplicaThatFollowsDoesNotExecuteWhatHasEndedItTwiceAndQuarantinesNothing() {
    following(
        2,
        state -> {
          var refusal = assertThrows(Diverged.class, () -> state.load(2, 2));
          String message = String.valueOf(refusal.getMessage());
          assertTrue(message.contains("version 2 (die()) of fragile[a]"), message);
          assertFalse(message.contains("quarantined"), message);
        });
    assertEquals(0, deaths.get());
  }
}
