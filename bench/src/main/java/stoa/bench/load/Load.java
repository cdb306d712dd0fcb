package stoa.bench.load;

import java.time.Duration;
import java.util.ArrayList;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

/// Callers that call again as soon as they get an answer, for a while.
///
/// @param callers the number of callers
/// @param threads the kind of their threads
/// @param warmUp how long they call before it counts
/// @param time how long it counts; each caller makes at least one call that counts
public record Load(int callers, Threads threads, Duration warmUp, Duration time) {
  /// The kind of a caller's thread.
  public enum Threads {
    PLATFORM,
    VIRTUAL
  }

  /// One turn of a caller.
  @FunctionalInterface
  public interface Body {
    void call(int caller, int turn) throws Exception;
  }

  /// The measurements of the calls that began after the warm-up.
  ///
  /// @param callsPerSecond from the end of the warm-up until the last answer
  /// @param p50Micros the median of the latencies
  /// @param p99Micros the 99th percentile of the latencies
  public record Seen(double callsPerSecond, double p50Micros, double p99Micros) {}

  public Load(int callers, Threads threads, Scale scale) {
    this(callers, threads, scale.warmUp(), scale.time());
  }

  /// Returns random numbers for each caller, which a seed determines.
  public SplittableRandom[] randoms(long seed) {
    var seeds = new SplittableRandom(seed);
    var randoms = new SplittableRandom[callers];
    for (int i = 0; i < callers; i++) randoms[i] = seeds.split();
    return randoms;
  }

  /// Runs the callers to their end.
  ///
  /// @throws Exception the failure of the first caller that failed
  public Seen run(Body body) throws Exception {
    var ready = new CountDownLatch(callers);
    var go = new CompletableFuture<Long>();
    var failure = new AtomicReference<Throwable>();
    var latencies = new ArrayList<Latencies>();
    long[] ends = new long[callers];
    var running = new ArrayList<Thread>();
    for (int i = 0; i < callers; i++) {
      int caller = i;
      var seen = new Latencies();
      latencies.add(seen);
      Runnable task =
          () -> {
            try {
              ready.countDown();
              ends[caller] = call(caller, body, go.get(), seen);
            } catch (Throwable e) {
              failure.compareAndSet(null, e);
            }
          };
      running.add(
          threads == Threads.VIRTUAL
              ? Thread.ofVirtual().start(task)
              : Thread.ofPlatform().start(task));
    }
    ready.await();
    long start = System.nanoTime();
    go.complete(start);
    for (Thread thread : running) thread.join();
    Throwable failed = failure.get();
    if (failed != null) throw new IllegalStateException("a caller failed: " + failed, failed);

    var all = new Latencies();
    latencies.forEach(all::add);
    long nanos = 0;
    for (long end : ends) nanos = Math.max(nanos, end - start - warmUp.toNanos());
    return new Seen(all.count() * 1e9 / nanos, all.quantile(0.5) / 1e3, all.quantile(0.99) / 1e3);
  }

  /// Makes one caller's calls; returns the time of the last answer.
  private long call(int caller, Body body, long start, Latencies seen) throws Exception {
    long from = start + warmUp.toNanos();
    long until = from + time.toNanos();
    int turn = 0;
    while (System.nanoTime() - from < 0) body.call(caller, turn++);
    long began = System.nanoTime();
    while (true) {
      body.call(caller, turn++);
      long end = System.nanoTime();
      seen.add(end - began);
      if (end - until >= 0) return end;
      began = end;
    }
  }
}
