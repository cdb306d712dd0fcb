package stoa.bench.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import stoa.Unavailable;
import stoa.bench.load.Latencies;

/// Observed callers that increment, or read, each a counter of its own, and repeat that as soon as
/// they get an answer. Thread-safe. Its owner closes it.
final class Watched implements AutoCloseable {
  private static final long LOOK_NANOS = 5_000_000;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /// The observations of some time.
  ///
  /// @param callsPerSecond of all
  /// @param p99Millis the 99th percentile of the latencies
  /// @param longestMillis the longest time for which a caller had no answer
  /// @param refused how often the servers refused a call without executing it
  public record Seen(double callsPerSecond, double p99Millis, double longestMillis, long refused) {}

  private final class Caller implements Runnable {
    private final int number;

    // The value of the counter at the start; 0 for readers.
    private final long before;

    private final Thread thread;

    // Guarded by this.
    private Latencies latencies = new Latencies();
    private long answered = System.nanoTime();
    private long longest;
    private long made;

    Caller(int number) throws Exception {
      this.number = number;
      before = reading ? 0 : counters.value(number);
      thread = Thread.ofPlatform().name("watched-" + number).unstarted(this);
    }

    @Override
    public void run() {
      try {
        while (!ended) {
          try {
            if (reading) counters.value(number);
            else counters.increment(number);
            answered(System.nanoTime());
          } catch (Unavailable refused) {
            refusals.increment(); // not executed, so no answer; the caller asks again
          }
        }
      } catch (Throwable failed) {
        failure.compareAndSet(null, failed);
      }
    }

    private synchronized void answered(long now) {
      latencies.add(now - answered);
      longest = Math.max(longest, now - answered);
      answered = now;
      made++;
    }

    private synchronized long last() {
      return answered;
    }

    /// Returns the longest time without an answer since [#begin].
    private synchronized long silence(long now) {
      return Math.max(longest, now - answered);
    }

    private synchronized void begin() {
      longest = 0;
      latencies = new Latencies();
    }

    private synchronized long count() {
      return made;
    }

    private synchronized Latencies taken() {
      return latencies;
    }
  }

  private final ClusterContender.Counters counters;
  private final boolean reading;
  private final List<Caller> callers = new ArrayList<>();
  private final LongAdder refusals = new LongAdder();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile boolean ended;
  private long begun;

  /// Starts callers that increment.
  Watched(ClusterContender.Counters counters, int count) throws Exception {
    this(counters, count, false);
  }

  private Watched(ClusterContender.Counters counters, int count, boolean reading) throws Exception {
    this.counters = counters;
    this.reading = reading;
    for (int i = 0; i < count; i++) callers.add(new Caller(i));
    callers.forEach(caller -> caller.thread.start());
    begin();
  }

  /// Starts callers that read.
  static Watched reading(ClusterContender.Counters counters, int count) throws Exception {
    return new Watched(counters, count, true);
  }

  /// Returns how many calls were answered so far.
  long made() {
    return callers.stream().mapToLong(Caller::count).sum();
  }

  /// Begins to observe.
  void begin() {
    callers.forEach(Caller::begin);
    refusals.reset();
    begun = System.nanoTime();
  }

  /// Waits until every caller has an answer since now, and for some more time.
  ///
  /// @throws IllegalStateException when a caller failed, or that takes too long
  void await(Duration more) {
    long now = System.nanoTime();
    long least = now + more.toNanos();
    long end = now + PATIENCE.toNanos();
    while (true) {
      long at = System.nanoTime();
      Throwable failed = failure.get();
      if (failed != null) throw new IllegalStateException("a caller failed: " + failed, failed);
      if (at - least > 0 && callers.stream().allMatch(caller -> caller.last() - now > 0)) return;
      if (at - end > 0) throw new IllegalStateException("nobody is answered any more");
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  /// Returns the longest silence of each caller since [#begin], in milliseconds, ascending.
  double[] silences() {
    long now = System.nanoTime();
    double[] silences = callers.stream().mapToDouble(caller -> caller.silence(now) / 1e6).toArray();
    Arrays.sort(silences);
    return silences;
  }

  /// Returns the observations since [#begin].
  Seen seen() {
    double seconds = (System.nanoTime() - begun) / 1e9;
    var all = new Latencies();
    for (Caller caller : callers) {
      synchronized (caller) {
        all.add(caller.taken());
      }
    }
    double[] silences = silences();
    return new Seen(
        all.count() / seconds,
        all.quantile(0.99) / 1e6,
        silences[silences.length - 1],
        refusals.sum());
  }

  /// Ends the callers and compares the counters with the answers.
  ///
  /// @throws IllegalStateException when a call was executed twice, or not at all
  void verify() throws Exception {
    close();
    for (Caller caller : callers) caller.thread.join();
    for (Caller caller : callers) {
      long found = counters.value(caller.number);
      if (found != caller.before + caller.made) {
        throw new IllegalStateException(
            "counter %d is at %,d after %,d increments from %,d on"
                .formatted(caller.number, found, caller.made, caller.before));
      }
    }
  }

  /// Lets the callers end, after their next answer.
  @Override
  public void close() {
    ended = true;
  }
}
