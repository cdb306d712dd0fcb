package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import stoa.Aborted;
import stoa.Accessor;
import stoa.Shared;
import stoa.Stoa;
import stoa.TxOptions;

/// A slow transaction beside a stream of others on its objects comes to its end.
class StarvingTest {
  private static final int CALLERS = 2;

  // Far fewer than the attempts that such a transaction takes without help: it never ends.
  private static final TxOptions FEW = TxOptions.STANDARD.withAttemptsMax(40);

  @Shared(name = "starving.Counter")
  static class Counter {
    private long calls;
    private long seen = -1;

    public void call() {
      calls++;
    }

    /// Notes what a body has seen, which nothing has changed since.
    public void note(long value) {
      if (value != calls) throw new IllegalStateException(value + " was seen, and it is " + calls);
      seen = value;
    }

    @Accessor
    public long calls() {
      return calls;
    }

    @Accessor
    public long seen() {
      return seen;
    }
  }

  @Shared(name = "starving.Relay")
  static class Relay {
    private final Counter to;

    Relay(Counter to) {
      this.to = to;
    }

    public void call() {
      to.call();
    }
  }

  /// Calls without a pause, until it is closed.
  private static final class Stream implements AutoCloseable {
    private final Semaphore done = new Semaphore(0);
    private final AtomicInteger made = new AtomicInteger();
    private final List<CompletableFuture<Void>> callers = new ArrayList<>();
    private volatile boolean over;

    private Stream(Runnable call) {
      for (int i = 0; i < CALLERS; i++) {
        callers.add(
            CompletableFuture.runAsync(
                () -> {
                  while (!over) {
                    call.run();
                    made.incrementAndGet();
                    done.release();
                  }
                },
                task -> Thread.ofPlatform().start(task)));
      }
    }

    /// Waits until calls have been made that begin now, unless the store holds them back.
    private void await() {
      done.drainPermits();
      try {
        var _ = done.tryAcquire(CALLERS + 1, 30, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void close() {
      over = true;
      callers.forEach(CompletableFuture::join);
    }
  }

  @Test
  void aSlowTransactionBesideAStreamOfCallsCommits() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var counters = new ArrayList<Counter>();
      for (int i = 0; i < 3; i++) counters.add(stoa.create(Counter.class, i));
      try (var stream = new Stream(() -> counters.forEach(Counter::call))) {
        stoa.transact(
            FEW,
            () -> {
              long sum = 0;
              for (Counter counter : counters) sum += counter.calls();
              stream.await();
              for (Counter counter : counters) counter.note(counter.calls());
              return sum;
            });
        int made = stream.made.get();
        while (stream.made.get() == made) Thread.onSpinWait(); // they go on
      }
      for (Counter counter : counters) assertTrue(counter.seen() >= 0);
    }
  }

  @Test
  void twoSuchTransactionsBothCommit() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var first = stoa.create(Counter.class, "first");
      var second = stoa.create(Counter.class, "second");
      Runnable call =
          () -> {
            first.call();
            second.call();
          };
      try (var stream = new Stream(call)) {
        var others = new ArrayList<CompletableFuture<Void>>();
        for (var order : List.of(List.of(first, second), List.of(second, first))) {
          others.add(
              CompletableFuture.runAsync(
                  () ->
                      stoa.transact(
                          TxOptions.STANDARD.withAttemptsMax(120),
                          () -> {
                            long one = order.getFirst().calls();
                            long other = order.getLast().calls();
                            stream.await();
                            order.getFirst().note(one);
                            order.getLast().note(other);
                            return true;
                          }),
                  task -> Thread.ofPlatform().start(task)));
        }
        others.forEach(CompletableFuture::join);
      }
      assertTrue(first.seen() >= 0 && second.seen() >= 0);
    }
  }

  @Test
  @Tag("one-group")
  void aSlowTransactionBesideCallsThatComeThroughOtherObjectsCommits() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var counter = stoa.create(Counter.class, "counter");
      var relay = stoa.create(Relay.class, "relay", counter);
      try (var stream = new Stream(relay::call)) {
        stoa.transact(
            FEW,
            () -> {
              long seen = counter.calls();
              stream.await();
              counter.note(seen);
              return true;
            });
      }
      assertTrue(counter.seen() >= 0);
    }
  }

  @Test
  void theCallsOfOthersGoOnWhenTheTransactionGivesUp() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var counter = stoa.create(Counter.class, "counter");
      var attempts = new AtomicInteger();
      assertThrows(
          IllegalArgumentException.class,
          () ->
              stoa.transact(() -> {
                long seen = counter.calls();
                // The last attempt has the intent, and throws.
                if (attempts.incrementAndGet() > 8) throw new IllegalArgumentException("enough");
                CompletableFuture.runAsync(counter::call).join();
                counter.note(seen);
              }));
      counter.call();
      assertEquals(9, counter.calls());
      assertThrows(
          Aborted.class,
          () ->
              stoa.transact(
                  TxOptions.STANDARD.withAttemptsMax(8),
                  () -> {
                    long seen = counter.calls();
                    CompletableFuture.runAsync(counter::call).join();
                    counter.note(seen);
                    return true;
                  }));
      assertEquals(17, counter.calls());
    }
  }
}
