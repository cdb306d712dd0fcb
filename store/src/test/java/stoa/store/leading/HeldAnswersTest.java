package stoa.store.leading;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
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
  private final AnswerGate gate = new AnswerGate(log, true, new Health(log), threads, progress, 4);

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
    return new AnswerGate.Held() {
      @Override
      public long reflects() {
        return reflects;
      }

      @Override
      public void leaves() {
        events.add(name);
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
    assertEquals(List.of("sync", "told 6", "told 8", "one", "two"), events);
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
    assertEquals(List.of("told 6", "one"), events);
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
}
