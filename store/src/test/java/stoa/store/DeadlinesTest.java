package stoa.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.store.Script.bytes;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import stoa.DeadlineExceeded;
import stoa.UnknownOutcome;
import stoa.base.Answer;
import stoa.base.Clock;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.log.LocalBatchLog;
import stoa.spi.Cancellation;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.past.Past;
import stoa.store.running.Execution;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;
import stoa.store.running.Request;
import stoa.store.running.StoreTransaction;
import stoa.store.threads.Threads;

/// A call with a time of its own is answered within it while its key is brought back.
class DeadlinesTest {
  private static final Key KEY = Key.of("slow", "k");
  private static final Existence ANY = new Existence.Any(null);
  private static final Duration SHORT = Duration.ofMillis(100);

  private final MemoryDisk disk = new MemoryDisk(64 << 20);

  /// What replays of the line `hold` wait for.
  private volatile CountDownLatch gate = new CountDownLatch(0);

  /// Keeps lines; to execute `hold` waits for the gate, and lets itself be stopped.
  private final class Slow implements Handler {
    private final List<String> lines = new ArrayList<>();

    @Override
    public Answer put(byte[] value, Execution execution) {
      String line = new String(value, StandardCharsets.UTF_8);
      while (line.equals("hold") && gate.getCount() > 0) {
        Cancellation.check();
        Thread.onSpinWait();
      }
      lines.add(line);
      return new Script.Said(String.join(",", lines));
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

  private final class Factory implements HandlerFactory {
    @Override
    public Handler create(Key key, byte @Nullable [] opening, Execution execution) {
      return new Slow();
    }

    @Override
    public Handler restore(Key key, byte[] checkpoint) {
      var slow = new Slow();
      slow.lines.addAll(new String(checkpoint, StandardCharsets.UTF_8).lines().toList());
      return slow;
    }

    @Override
    public Answer failure(RuntimeException cause) {
      return new Script.Said(cause.getClass().getSimpleName());
    }
  }

  private Store open() {
    var log = new LocalBatchLog(Device.open(disk, DeviceConfig.standard()));
    var limits = new StoreConfig(Duration.ofMinutes(5), 10_000, 1 << 20, 16, Duration.ofSeconds(5));
    var opened = new Store(limits, log, Clock.system(), Threads.real());
    opened.register("slow", new Factory());
    return opened;
  }

  private Store store = open();

  @BeforeEach
  void reopensOverAPutWhoseReplayTakesLong() {
    var _ = put("a", Duration.ofMinutes(10));
    var _ = put("hold", Duration.ofMinutes(10));
    store.close();
    gate = new CountDownLatch(1);
    store = open();
  }

  @AfterEach
  void close() {
    gate.countDown();
    store.close();
  }

  private String put(String line, Duration timeMax) {
    return said(
        store.put(
            store.target(KEY),
            Put.of(bytes(line)),
            Terms.expecting(ANY).at(Pace.SHORT).within(timeMax)));
  }

  private String get(Duration timeMax) {
    return said(
        store.get(store.target(KEY), "lines", Terms.expecting(ANY).at(Pace.SHORT).within(timeMax)));
  }

  private static String said(Request request) {
    return new String(request.answer().encoded(), StandardCharsets.UTF_8);
  }

  private void isLateWhileItIsBroughtBack(Supplier<?> call) {
    assertThrows(DeadlineExceeded.class, call::get);
    // From a thread that may not run what takes long, too.
    var late = new CompletableFuture<Throwable>();
    Thread.startVirtualThread(() -> {
      try {
        late.completeExceptionally(new AssertionError("it answered " + call.get()));
      } catch (RuntimeException told) {
        late.complete(told);
      }
    });
    assertEquals(DeadlineExceeded.class, late.join().getClass());
  }

  @Test
  void aQuestionIsLate() {
    isLateWhileItIsBroughtBack(() -> get(SHORT));
    gate.countDown();
    assertEquals("a,hold", get(Duration.ofMinutes(10)));
  }

  @Test
  void aPutIsLateAndIsNotExecuted() {
    isLateWhileItIsBroughtBack(() -> put("b", SHORT));
    gate.countDown();
    assertEquals("a,hold,c", put("c", Duration.ofMinutes(10)));
    store.close();
    store = open();
    assertEquals("a,hold,c", get(Duration.ofMinutes(10)));
  }

  @Test
  void aPutInTimeBringsItsKeyBack() {
    gate.countDown();
    assertEquals("a,hold,b", put("b", Duration.ofSeconds(20)));
  }

  @Test
  void aQuestionInTimeBringsItsKeyBack() {
    gate.countDown();
    assertEquals("a,hold", get(Duration.ofSeconds(20)));
  }

  private void delete(Duration timeMax) {
    var _ = store.delete(store.target(KEY), Terms.expecting(ANY).within(timeMax));
  }

  @Test
  void aDeletionIsLateAndIsExecuted() {
    var told = assertThrows(UnknownOutcome.class, () -> delete(SHORT));
    assertTrue(String.valueOf(told.getMessage()).contains("slow[k] is logged"), told::toString);
    gate.countDown();
    // Behind it, another life begins.
    assertEquals("b", put("b", Duration.ofMinutes(10)));
    store.close();
    store = open();
    assertEquals("b", get(Duration.ofMinutes(10)));
  }

  @Test
  void aDeletionWhoseListenerComesLateTellsIt() {
    Request deletion = store.deleteAsync(store.target(KEY), Terms.expecting(ANY).within(SHORT));
    while (!deletion.isLeft()) Thread.onSpinWait();
    assertFalse(deletion.isDone());
    var told = new CompletableFuture<Request>();
    deletion.whenDone(told::complete);
    assertThrows(UnknownOutcome.class, told.join()::number);
    gate.countDown();
    while (!deletion.isDone()) Thread.onSpinWait();
    assertEquals(1, deletion.number());
  }

  @Test
  void aDeletionWhoseTimeIsOverIsNotLogged() {
    gate.countDown();
    assertThrows(DeadlineExceeded.class, () -> delete(Duration.ZERO));
    assertEquals("a,hold", get(Duration.ofMinutes(10)));
    delete(Duration.ofSeconds(20));
    assertEquals("", get(Duration.ofMinutes(10)));
  }

  @Test
  void aReaderOfThePastIsLate() {
    Past past = store.at(KEY, store.moment()).within(SHORT);
    isLateWhileItIsBroughtBack(() -> past.get("lines", ANY, Pace.SHORT));
    isLateWhileItIsBroughtBack(() -> past.get("lines", ANY, Pace.LONG));
    gate.countDown();
    assertEquals(
        "a,hold",
        new String(
            store.at(KEY, store.moment()).get("lines", ANY, Pace.SHORT).encoded(),
            StandardCharsets.UTF_8));
  }

  @Test
  void aViewIsLate() {
    var follower = store.follow(store.target(KEY));
    store.engine().playback().observed().advance(store.moment());
    isLateWhileItIsBroughtBack(() -> follower.now("lines", ANY, SHORT, (_, _) -> {}));
    isLateWhileItIsBroughtBack(() -> follower.seen("lines", ANY, SHORT, (_, _) -> {}));
    gate.countDown();
    var read = follower.now("lines", ANY, Duration.ofMinutes(10), (_, _) -> {});
    assertEquals("a,hold", new String(read.answer().encoded(), StandardCharsets.UTF_8));
  }

  @Test
  void aTransactionIsLate() {
    isLateWhileItIsBroughtBack(() -> {
      try (StoreTransaction transaction =
          store.begin(
              new StoreTransaction.Bounds(StoreTransaction.Access.WRITES, 100_000, 10, 1 << 20))) {
        return transaction.get(store.target(KEY), "lines", ANY, Pace.SHORT);
      }
    });
    isLateWhileItIsBroughtBack(() -> {
      try (StoreTransaction transaction =
          store.begin(
              new StoreTransaction.Bounds(StoreTransaction.Access.WRITES, 100_000, 10, 1 << 20))) {
        return transaction.put(store.target(KEY), bytes("b"), ANY, Pace.SHORT);
      }
    });
    gate.countDown();
    assertEquals("a,hold", get(Duration.ofMinutes(10)));
  }
}
