package stoa.node;

import java.util.concurrent.atomic.LongAdder;

/// Counts events, and their recent rate. Thread-safe.
final class Rate {
  private static final int SAMPLES = 10;
  private static final double NANOS_PER_SECOND = 1e9;

  private final LongAdder total = new LongAdder();

  // Guarded by this.
  private final long[] counts = new long[SAMPLES];
  private final long[] nanos = new long[SAMPLES];
  private long samples;

  void count() {
    total.increment();
  }

  long total() {
    return total.sum();
  }

  /// Samples the count.
  void sample(long nowNanos) {
    sample(total(), nowNanos);
  }

  /// Samples a count from elsewhere.
  synchronized void sample(long count, long nowNanos) {
    int at = (int) (samples++ % SAMPLES);
    counts[at] = count;
    nanos[at] = nowNanos;
  }

  /// Returns the events a second, between the oldest and the newest sample.
  synchronized double perSecond() {
    if (samples < 2) return 0;
    int newest = (int) ((samples - 1) % SAMPLES);
    int oldest = samples <= SAMPLES ? 0 : (int) (samples % SAMPLES);
    long time = nanos[newest] - nanos[oldest];
    return time == 0 ? 0 : (counts[newest] - counts[oldest]) * NANOS_PER_SECOND / time;
  }
}
