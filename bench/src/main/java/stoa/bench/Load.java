package stoa.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

/// Callers that call again as soon as they are answered, for a while.
///
/// @param callers how many
/// @param threads what each runs on
/// @param warmUp how long they call before it counts
/// @param time how long it counts
record Load(int callers, Threads threads, Duration warmUp, Duration time) {
  /// What a caller runs on.
  enum Threads {
    PLATFORM,
    VIRTUAL
  }

  /// What a caller does in each turn.
  @FunctionalInterface
  interface Body {
    void call(int caller, int turn) throws Exception;
  }

  /// What the callers saw: calls that began after the warm-up and were answered in time.
  record Seen(double callsPerSecond, double p50Micros, double p99Micros) {}

  Load(int callers, Threads threads, Scale scale) {
    this(callers, threads, scale.warmUp(), scale.time());
  }

  /// Runs the callers to their end.
  ///
  /// @throws Exception what the first caller that failed met
  Seen run(Body body) throws Exception {
    var ready = new CountDownLatch(callers + 1);
    var failure = new AtomicReference<Throwable>();
    var latencies = new ArrayList<Latencies>();
    var running = new ArrayList<Thread>();
    for (int i = 0; i < callers; i++) {
      int caller = i;
      var seen = new Latencies();
      latencies.add(seen);
      Runnable task =
          () -> {
            try {
              ready.countDown();
              ready.await();
              call(caller, body, seen);
            } catch (Throwable e) {
              failure.compareAndSet(null, e);
            }
          };
      running.add(
          threads == Threads.VIRTUAL
              ? Thread.ofVirtual().start(task)
              : Thread.ofPlatform().start(task));
    }
    ready.countDown();
    for (Thread thread : running) thread.join();
    Throwable failed = failure.get();
    if (failed != null) throw new IllegalStateException("a caller failed: " + failed, failed);

    var all = new Latencies();
    latencies.forEach(all::add);
    return new Seen(
        all.count() * 1e9 / time.toNanos(), all.quantile(0.5) / 1e3, all.quantile(0.99) / 1e3);
  }

  private void call(int caller, Body body, Latencies seen) throws Exception {
    long from = System.nanoTime() + warmUp.toNanos();
    long until = from + time.toNanos();
    for (int turn = 0; ; turn++) {
      long start = System.nanoTime();
      if (start - until >= 0) return;
      body.call(caller, turn);
      long end = System.nanoTime();
      if (start - from >= 0 && end - until <= 0) seen.add(end - start);
    }
  }
}
