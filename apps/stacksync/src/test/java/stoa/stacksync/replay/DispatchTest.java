package stoa.stacksync.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PipedReader;
import java.io.PipedWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import stoa.Stoa;
import stoa.stacksync.Design;
import stoa.stacksync.Services;

/// Instances as threads of this process.
class DispatchTest {
  private static final Trace TRACE = Trace.builtIn().firstRequests(300);
  private static final int WINDOW = 4;

  @ParameterizedTest
  @EnumSource
  void severalInstancesCommitTheTraceTogether(Design design) throws Exception {
    try (var store = Stoa.open("memory:")) {
      var dispatch = dispatch(store, design, TRACE);
      var instances = List.of(new Running(store, design, 0), new Running(store, design, 1));
      for (var each : instances) each.begin(dispatch, line -> dispatch.answer(each.number, line));
      for (int changes : List.of(50, 200)) {
        assertTrue(dispatch.await(changes));
        var answered = dispatch.settle();
        assertEquals(answered, StoredItem.newest(store));
        assertTrue(answered.values().stream().mapToInt(Integer::intValue).sum() >= changes);
        dispatch.resume();
      }
      assertFalse(dispatch.await(Integer.MAX_VALUE));
      for (var each : instances) each.end();
      assertEquals(TRACE.rows().size(), dispatch.report().changes());
      assertEquals(List.of(), Verification.of(store, TRACE).problems());
      assertTrue(instances.stream().allMatch(each -> each.answers.get() > 0));
    }
  }

  /// One instance's first answers are lost with it; another one of its name is asked all that
  /// again.
  @ParameterizedTest
  @EnumSource
  void whatAnEndedInstanceDidNotAnswerIsAskedAgainAndDoneOnce(Design design) throws Exception {
    try (var store = Stoa.open("memory:")) {
      var dispatch = dispatch(store, design, TRACE);
      var steady = new Running(store, design, 0);
      var killed = new Running(store, design, 1);
      var again = new Running(store, design, 1);
      killed.begin(dispatch, line -> {});
      killed.awaitAnswers(WINDOW);
      dispatch.leave(1);
      killed.end();
      steady.begin(dispatch, line -> dispatch.answer(0, line));
      again.begin(dispatch, line -> dispatch.answer(1, line));
      assertFalse(dispatch.await(Integer.MAX_VALUE));
      steady.end();
      again.end();
      assertEquals(List.of(), Verification.of(store, TRACE).problems());
    }
  }

  /// Every answer is lost once, so every order comes twice: conflicts and moves, too.
  @ParameterizedTest
  @EnumSource
  void everyOrderMayComeTwice(Design design) throws InterruptedException {
    var trace = Trace.builtIn().firstRequests(1_500);
    try (var store = Stoa.open("memory:")) {
      new Preparation(store, trace, design).run();
      var services = List.of(Services.open(store, "a", design), Services.open(store, "b", design));
      var schedule = new Schedule(trace, Map.of());
      int conflicts = 0;
      int moves = 0;
      for (var next = schedule.poll(); next.isPresent(); next = schedule.poll()) {
        var orders = Orders.text(next.get());
        var batch = new Orders(trace).batch(orders);
        assertEquals(next.get().rows, batch.rows);
        assertEquals(next.get().from, batch.from);
        assertEquals(next.get().to, batch.to);
        for (var service : services) {
          var committer = new Committer(service, Observer.none(), Outage.NONE);
          committer.commit(batch);
          conflicts += committer.conflicts();
        }
        if (batch.moves()) moves++;
        schedule.done(next.get());
      }
      assertTrue(conflicts > 0 && moves > 0, conflicts + " conflicts, " + moves + " moves");
      assertEquals(List.of(), Verification.of(store, trace).problems());
    }
  }

  @Test
  void aFailureEndsTheWaiting() {
    var dispatch = new Dispatch(TRACE, Map.of(), 1, WINDOW, Observer.none());
    dispatch.fail(new IllegalStateException("the disk is full"));
    var failure = assertThrows(IllegalStateException.class, () -> dispatch.await(1));
    assertTrue(String.valueOf(failure.getMessage()).contains("the disk is full"));
  }

  @Test
  void anAnswerToNothingIsRefused() {
    var dispatch = new Dispatch(TRACE, Map.of(), 1, WINDOW, Observer.none());
    assertThrows(IllegalArgumentException.class, () -> dispatch.answer(0, "done 3 0 17"));
    assertThrows(IllegalArgumentException.class, () -> dispatch.answer(0, "hello"));
    assertThrows(
        IllegalArgumentException.class, () -> new Orders(TRACE).batch("commit 1 999999999 1"));
  }

  private static Dispatch dispatch(Stoa store, Design design, Trace trace)
      throws InterruptedException {
    var stored = new Preparation(store, trace, design).run();
    return new Dispatch(trace, stored, 2, WINDOW, Observer.none());
  }

  /// An instance on a thread, with a pipe of orders.
  private static final class Running {
    private final int number;
    private final AtomicInteger answers = new AtomicInteger();
    private final PipedWriter orders = new PipedWriter();
    private final PipedReader in;
    private final Instance instance;
    private final List<Thread> threads = new ArrayList<>();

    Running(Stoa store, Design design, int number) throws IOException {
      this.number = number;
      in = new PipedReader(orders, 1 << 20);
      instance = new Instance(store, TRACE, design, "instance-" + number, 3, Outage.NONE);
    }

    void begin(Dispatch dispatch, Consumer<String> answers) {
      Consumer<String> counted =
          line -> {
            answers.accept(line);
            synchronized (this) {
              this.answers.incrementAndGet();
              notifyAll();
            }
          };
      threads.add(
          Thread.ofPlatform()
              .start(() -> {
                try {
                  instance.run(in, counted);
                } catch (Throwable e) {
                  dispatch.fail(e);
                }
              }));
      dispatch.join(number, this::write);
    }

    synchronized void awaitAnswers(int count) throws InterruptedException {
      while (answers.get() < count) wait();
    }

    void end() throws IOException, InterruptedException {
      orders.close();
      for (var thread : threads) thread.join();
    }

    private void write(String line) {
      try {
        orders.write(line + "\n");
        orders.flush();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
