package stoa.store.leading;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import stoa.base.Key;
import stoa.log.ForwardingBatchLog;
import stoa.log.LocalBatchLog;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.store.threads.Threads;
import stoa.store.watching.Progress;

/// What the gate of answers does with those that wait.
class HeldAnswersTest {
  private final List<String> events = new ArrayList<>();
  private final Log log = new Log();
  private final Threads threads = Threads.real();
  private final Progress progress = new Progress(4);
  private final Health health = new Health(log);
  private final AnswerGate gate = new AnswerGate(log, true, health, threads, progress, 4);

  /// A log whose syncs are counted, and may fail.
  private final class Log extends ForwardingBatchLog {
    private boolean fails;

    private Log() {
      super(new LocalBatchLog(Device.open(new MemoryDisk(64 << 20), DeviceConfig.standard())));
    }

    @Override
    public boolean syncsApart() {
      return true;
    }

    @Override
    public void sync() {
      events.add("sync");
      if (fails) throw new IllegalStateException("the disk failed");
    }
  }

  private AnswerGate.Held answer(String name, long reflects) {
    return answer(name, name, reflects, () -> {});
  }

  /// @param listener runs while the caller gets the answer
  private AnswerGate.Held answer(String key, String name, long reflects, Runnable listener) {
    return new AnswerGate.Held() {
      @Override
      public Key key() {
        return Key.of("test", key);
      }

      @Override
      public long reflects() {
        return reflects;
      }

      @Override
      public void leaves() {
        events.add(name);
        listener.run();
        events.add(name + " has left");
      }

      @Override
      public void isLost(RuntimeException why) {
        events.add(name + " is lost");
      }
    };
  }

  private void goAhead(long counter) {
    gate.appended(counter);
    gate.later(counter, () -> events.add("told " + counter));
    gate.filled(counter, false);
  }

  @AfterEach
  void close() {
    threads.close();
    log.close();
  }

  @Test
  void anAnswerLeavesWhenWatchersKnowWhatItReflects() {
    goAhead(6);
    assertFalse(gate.takes(answer("older", 4), false));
    assertTrue(gate.takes(answer("one", 5), false));
    goAhead(8);
    assertTrue(gate.takes(answer("two", 8), false));
    assertEquals(4, gate.shown());
    assertEquals(List.of(), events);
    assertTrue(gate.sync());
    assertEquals(
        List.of("sync", "told 6", "told 8", "one", "one has left", "two", "two has left"), events);
    assertEquals(8, gate.shown());
    assertEquals(8, progress.counter());
    assertFalse(gate.sync());
  }

  @Test
  void aBatchThatIsSyncedShowsThoseBeforeIt() {
    goAhead(6);
    assertTrue(gate.takes(answer("one", 6), false));
    gate.appended(7);
    gate.durable(7);
    gate.filled(7, true);
    gate.open();
    assertEquals(List.of("told 6", "one", "one has left"), events);
    assertEquals(7, gate.shown());
  }

  @Test
  void aFailedSyncLosesAllAnswersThatTellOfAState() {
    goAhead(6);
    assertTrue(gate.takes(answer("one", 6), false));
    log.fails = true;
    assertTrue(gate.sync());
    assertEquals(List.of("sync", "one is lost"), events);
    assertTrue(gate.takes(answer("gone", 6), false));
    assertEquals("gone is lost", events.getLast());
    assertFalse(gate.takes(answer("unavailable", 6), true));
    assertFalse(gate.takes(answer("older", 4), false));
    assertFalse(gate.mayGoAhead());
    assertEquals(4, gate.shown());
  }

  @Test
  void anAnswerThatNeedsNoSyncLeavesBehindTheOneOfItsKeyThatWaits() {
    goAhead(6);
    assertTrue(gate.takes(answer("key", "one", 6, () -> {}), false));
    assertTrue(gate.takes(answer("key", "two", 4, () -> {}), false));
    assertFalse(gate.takes(answer("other", 4), false));
    assertEquals(List.of(), events);
    assertTrue(gate.sync());
    assertEquals(List.of("sync", "told 6", "one", "one has left", "two", "two has left"), events);
    assertFalse(gate.takes(answer("key", "three", 6, () -> {}), false));
  }

  @Test
  void anAnswerThatComesWhileAnEarlierOneOfItsKeyLeavesLeavesAfterIt() {
    goAhead(6);
    var later = answer("key", "two", 6, () -> {});
    assertTrue(
        gate.takes(answer("key", "one", 6, () -> assertTrue(gate.takes(later, false))), false));
    assertTrue(gate.sync());
    assertEquals(List.of("sync", "told 6", "one", "one has left", "two", "two has left"), events);
  }

  @Test
  void aThreadThatLetsAnswersLeavePassesOverTheKeysOfAnotherThread() {
    goAhead(6);
    Runnable meanwhile =
        () -> {
          gate.durable(8);
          gate.filled(8, true);
          gate.open(); // as another thread does
        };
    assertTrue(gate.takes(answer("key", "one", 6, meanwhile), false));
    goAhead(8);
    assertTrue(gate.takes(answer("key", "two", 8, () -> {}), false));
    assertTrue(gate.takes(answer("other", 8), false));
    gate.durable(6);
    gate.open();
    assertEquals(
        List.of(
            "one",
            "told 6",
            "told 8",
            "other",
            "other has left",
            "one has left",
            "two",
            "two has left"),
        events);
  }

  @Test
  void aWatcherThatFailsFailsTheStore() {
    gate.appended(6);
    gate.later(
        6,
        () -> {
          throw new IllegalStateException("a watcher");
        });
    gate.filled(6, false);
    assertTrue(gate.takes(answer("one", 6), false));
    assertTrue(gate.sync());
    assertEquals(List.of("sync", "one is lost"), events);
    assertTrue(health.hasFailed());
    assertFalse(gate.isShowing(), "readers would wait for ever");
  }
}
