package stoa.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
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
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.divergence.Quarantine;
import stoa.store.past.Past;
import stoa.store.running.Execution;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;
import stoa.store.running.Materialized;
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
      take(Script.text(value));
      lines.add(Script.text(value));
      return new Script.Said(String.join(",", lines));
    }

    @Override
    public Answer get(@Nullable Object query, Execution execution) {
      take(((Asked) Objects.requireNonNull(query)).text());
      return new Script.Said(String.join(",", lines));
    }

    private void take(String line) {
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
    var device = Device.open(disk, DeviceConfig.standard());
    running = device.running();
    var store = new Store(CONFIG, new LocalBatchLog(device), Clock.system(), Threads.real());
    store.noteRuns(device.running());
    store.register("fragile", new Factory());
    return store;
  }

  private static String put(Store store, Key key, String line) {
    var request = store.put(store.target(key), Put.of(Script.bytes(line)), Terms.expecting(ANY));
    return Script.text(request.answer().encoded());
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
  void aReplicaThatFollowsDoesNotExecuteWhatHasEndedItOnce() {
    isDeadly = false;
    try (var store = open()) {
      put(store, A, "x");
      put(store, A, "die");
    }
    isDeadly = true;
    try (var device = Device.open(disk, DeviceConfig.standard())) {
      Objects.requireNonNull(device.running().slot()).begin(A.stream(), 2);
      disk = disk.kill();
    }
    var device = Device.open(disk, DeviceConfig.standard());
    try (device;
        var store = Store.following(CONFIG, new Streams(device), Clock.system(), Threads.real())) {
      store.noteRuns(device.running());
      store.register("fragile", new Factory());
      Materialized state = store.engine().loader().trying(A);
      assertNamesTheCall(assertThrows(Diverged.class, () -> state.load(2, 2)));
    }
    assertEquals(0, deaths.get());
  }
}
