package stoa.sim.world;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import stoa.sim.check.CallHistory;
import stoa.sim.check.CounterModel;
import stoa.sim.check.Linearizability;
import stoa.sim.check.Operation;
import stoa.sim.check.Verdict;

class RecorderTest {
  @Test
  void recordsCallsInTheOrderOfTimeWithBeginningsBeforeEndsOfOneMoment() throws Exception {
    var time = new AtomicLong();
    var recorder = new Recorder<String, Long>(time::get);
    var a = recorder.client("a");
    var b = recorder.client("b");
    var first = a.begin("first");
    time.set(5);
    first.returned(1L);
    var second = b.begin("second");
    time.set(6);
    second.lost();
    b.begin("third").refused();
    b.begin("fourth");
    List<CallHistory.Event<String, Long>> expected =
        List.of(
            new CallHistory.Invoked<>(0, "a", "first"),
            new CallHistory.Invoked<>(1, "b", "second"),
            new CallHistory.Returned<>(0, 1L),
            new CallHistory.Invoked<>(3, "b", "fourth"),
            new CallHistory.Lost<>(1));
    assertEquals(expected, recorder.history().events());
  }

  @Test
  void leavesACallThatThrewPending() {
    var recorder = new Recorder<String, Long>();
    var client = recorder.client("a");
    assertThrows(
        IllegalStateException.class,
        () ->
            client.call(
                "x",
                () -> {
                  throw new IllegalStateException("broken");
                }));
    assertInstanceOf(Operation.Pending.class, recorder.history().operations().getFirst().end());
  }

  @Test
  void historiesOfAnAtomicCounterUnderManyThreadsAreLinearizable() throws Exception {
    var counter = new AtomicLong();
    Linearizability.require(new CounterModel(), run(counter::incrementAndGet, counter::get));
  }

  @Test
  void historiesOfAReadThatLagsAreNot() throws Exception {
    var counter = new AtomicLong();
    // After its own increment a client reads the value before it, and that is stale.
    var history = run(counter::incrementAndGet, () -> Math.max(0, counter.get() - 1));
    assertInstanceOf(
        Verdict.NotLinearizable.class, Linearizability.check(new CounterModel(), history));
  }

  private interface Answer {
    long get();
  }

  private static CallHistory<CounterModel.Input, Long> run(Answer increment, Answer read)
      throws Exception {
    var recorder = new Recorder<CounterModel.Input, Long>();
    int threads = 4;
    var start = new CyclicBarrier(threads);
    try (var pool = Executors.newFixedThreadPool(threads)) {
      List<Future<?>> ends = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        var client = recorder.client("client " + i);
        ends.add(
            pool.submit(() -> {
              start.await();
              for (int call = 0; call < 500; call++) {
                client.call(new CounterModel.Input.Increment(1), increment::get);
                client.call(new CounterModel.Input.Read(), read::get);
              }
              return null;
            }));
      }
      for (var end : ends) end.get();
    }
    return recorder.history();
  }
}
