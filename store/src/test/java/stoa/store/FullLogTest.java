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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.DeadlineExceeded;
import stoa.LimitExceeded;
import stoa.UnknownOutcome;
import stoa.base.Answer;
import stoa.base.Clock;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.log.BatchLog;
import stoa.log.BatchOutcome;
import stoa.log.LocalBatchLog;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.records.Records;
import stoa.store.running.Execution;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;
import stoa.store.running.Request;
import stoa.store.running.Resident;
import stoa.store.threads.Threads;

/// What the store does when there is room for one batch and none for another.
class FullLogTest {
  private static final Existence ANY = new Existence.Any(null);

  /// A log that has no room for the first batches with an entry of some kind.
  private static BatchLog full(byte kind, int refusals) {
    var left = new AtomicInteger(refusals);
    var log = new LocalBatchLog(Device.open(new MemoryDisk(64 << 20), DeviceConfig.standard()));
    return new TroubledLog(
        log,
        batch -> {
          boolean meant = batch.entries().stream().anyMatch(entry -> entry.kind() == kind);
          return meant && left.getAndDecrement() > 0
              ? new BatchOutcome.Refused(new LimitExceeded("the log is full"))
              : null;
        });
  }

  /// Keeps lines. "both" asks the keys `b` and `c`, and lets what the first has answered be logged
  /// before it asks the second; "wait" waits until it is let on.
  private static final class Asking implements Handler, HandlerFactory {
    private final CountDownLatch begun;
    private final CountDownLatch goOn;
    private final List<String> lines = new ArrayList<>();

    Asking(CountDownLatch begun, CountDownLatch goOn) {
      this.begun = begun;
      this.goOn = goOn;
    }

    @Override
    public Handler create(Key key, byte @Nullable [] opening, Execution execution) {
      return new Asking(begun, goOn);
    }

    @Override
    public Handler restore(Key key, byte[] checkpoint) {
      var made = new Asking(begun, goOn);
      made.lines.addAll(text(checkpoint).lines().toList());
      return made;
    }

    @Override
    public Answer failure(RuntimeException cause) {
      return new Script.Said(cause.getClass().getSimpleName());
    }

    @Override
    public Answer put(byte[] value, Execution execution) {
      String line = text(value);
      switch (line) {
        case "both" -> lines.add(ask("b", execution) + " and " + ask("c", execution));
        case "wait" -> {
          begun.countDown();
          try {
            goOn.await();
          } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
          }
          lines.add(line);
        }
        default -> lines.add(line);
      }
      return new Script.Said(lines.getLast());
    }

    private static String ask(String name, Execution execution) {
      String answer = text(execution.get(key(name), "", ANY));
      Resident resident = execution.resident;
      while (resident != null && resident.notesUnderWay() > 0) {
        Thread.onSpinWait(); // the next tick has the writer lead
      }
      return answer;
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

  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);

  private Store open(BatchLog log) {
    var config =
        new StoreConfig(Duration.ofMinutes(1), 10_000, 64 << 20, 16, Duration.ofSeconds(5));
    var store = new Store(config, log, Clock.system(), Threads.real());
    store.register("script", new Asking(begun, goOn));
    return store;
  }

  @Test
  void nobodyIsToldWhatReflectsAnAnswerThatWasNotLogged() {
    try (var store = open(full(Records.ANSWERED, 1))) {
      put(store, "b", "one");
      put(store, "c", "two");
      assertThrows(UnknownOutcome.class, () -> put(store, "a", "both"));
      // It goes on now, and asks again.
      put(store, "b", "three");
      assertEquals("one,three and two", Script.lines(store, "a"));
      // What a reader of the past sees is what was told.
      store.engine().barrier().await(key("a"));
      var past = store.past(key("a"), 1).get("", ANY, Pace.LONG);
      assertEquals("one,three and two", text(past.encoded()));
    }
  }

  @Test
  void aCallThatIsLateIsTakenBackWhenThereIsRoomForThat() throws Exception {
    try (var store = open(full(Records.VERDICT, 2))) {
      Request first =
          store.putAsync(store.target(key("a")), Put.of(bytes("wait")), Terms.expecting(ANY));
      begun.await();
      var late = new CompletableFuture<Request>();
      store
          .putAsync(
              store.target(key("a")),
              Put.of(bytes("late")),
              Terms.expecting(ANY).within(Duration.ofMillis(60)))
          .whenDone(late::complete);
      var failure = late.get(20, TimeUnit.SECONDS).failure();
      assertInstanceOf(DeadlineExceeded.class, failure);
      goOn.countDown();
      assertEquals("wait", Script.lines(store, "a"));
      assertEquals("wait", text(first.answer().encoded()));
    } finally {
      goOn.countDown();
    }
  }
}
