package stoa.base;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/// How often something happens, and how long it takes: a count, a total and a histogram, without a
/// lock. Thread-safe.
///
/// It counts everything. It times everything that is slow, and one in 128 of what is quick, because
/// two looks at a clock would cost a noticeable part of that. Of what is quick it may miss a few
/// where very many threads do the same:
///
/// ```
/// int weight = latency.begin();
/// long began = weight == 0 ? 0 : nanoTime();
/// ...
/// if (weight > 0) latency.end(weight, nanoTime() - began);
/// ```
public final class Latency {
  /*
   * The buckets are logarithmic with four parts for each power of two, as those of an HdrHistogram
   * with little precision: a quantile is off by at most an eighth. A duration in bucket 4 e + p is
   * at least 2^e + p 2^(e-2) nanoseconds.
   */
  private static final int PARTS_BITS = 2;
  private static final int PARTS = 1 << PARTS_BITS;
  static final int BUCKETS = 42 * PARTS; // up to an hour
  private static final int QUICK_NANOS = 5_000;
  private static final int ONE_IN = 128;

  // A quantile is of at least this time, and of at most about twice.
  private static final long WINDOW_NANOS = 60_000_000_000L;

  /*
   * Threads count quick operations without an atomic instruction, which would take a noticeable part
   * of their time. Each thread has a stripe of its own, as far as there are stripes. Two threads that
   * share a stripe lose a count when both change it in the same few nanoseconds.
   */
  private static final int STRIPES = 64;
  private static final int STRIPE_SHIFT = 3; // a cache line each

  private final LongAdder slow = new LongAdder();
  private final LongAdder nanos = new LongAdder();
  private final AtomicLongArray buckets = new AtomicLongArray(BUCKETS);

  // Null until something was quick for the first time. Guarded by this for writing.
  private volatile @Nullable AtomicLongArray stripes;

  // The stripes while the last that was timed was quick; otherwise null. Guarded by this for
  // writing.
  private volatile @Nullable AtomicLongArray quick;

  // The histogram at the beginning of this window and of the one before. Guarded by this.
  private long[] before = new long[BUCKETS];
  private long[] current = before;
  private long currentNanos;
  private boolean isRead;

  /// Creates one that has seen nothing.
  public Latency() {}

  /// Counts something that begins.
  ///
  /// @return for how many it is timed: 0 when it is not to be timed
  public int begin() {
    AtomicLongArray counts = quick;
    if (counts == null) {
      slow.increment();
      return 1;
    }
    int stripe = ((int) Thread.currentThread().threadId() & (STRIPES - 1)) << STRIPE_SHIFT;
    long number = counts.getOpaque(stripe);
    counts.setOpaque(stripe, number + 1);
    return (number & (ONE_IN - 1)) == 0 ? ONE_IN : 0;
  }

  /// Records how long something took.
  ///
  /// @param weight what [#begin] returned, not 0
  public void end(int weight, long tookNanos) {
    long took = Math.max(0, tookNanos);
    nanos.add(weight * took);
    buckets.addAndGet(bucket(took), weight);
    boolean isQuick = took < QUICK_NANOS;
    if (isQuick != (quick != null)) turn(isQuick);
  }

  private synchronized void turn(boolean isQuick) {
    AtomicLongArray counts = stripes;
    if (counts == null) {
      counts = new AtomicLongArray(STRIPES << STRIPE_SHIFT);
      stripes = counts;
    }
    quick = isQuick ? counts : null;
  }

  private static int bucket(long took) {
    if (took < PARTS) return (int) took;
    int exponent = Long.SIZE - 1 - Long.numberOfLeadingZeros(took);
    int part = (int) (took >>> (exponent - PARTS_BITS)) & (PARTS - 1);
    return Math.min(BUCKETS - 1, (exponent << PARTS_BITS) + part);
  }

  /// Returns the middle of a bucket, in nanoseconds.
  static double middle(int bucket) {
    if (bucket < PARTS) return bucket;
    double power = Math.scalb(1.0, bucket >> PARTS_BITS);
    return power + power / PARTS * ((bucket & (PARTS - 1)) + 0.5);
  }

  /// Returns how often it has begun.
  public long count() {
    long sum = slow.sum();
    AtomicLongArray counts = stripes;
    if (counts == null) return sum;
    for (int i = 0; i < STRIPES; i++) sum += counts.getOpaque(i << STRIPE_SHIFT);
    return sum;
  }

  /// Returns how long all took that have ended, about, in nanoseconds.
  public long totalNanos() {
    return nanos.sum();
  }

  /// Adds how many durations were in each bucket.
  void addTo(long[] sums) {
    for (int i = 0; i < BUCKETS; i++) sums[i] += buckets.get(i);
  }

  /// Returns quantiles of the last one to two minutes, as long as it is asked at least once a
  /// minute; otherwise of the time since it was asked last.
  ///
  /// @param now in nanoseconds
  /// @param quantiles each between 0 and 1
  /// @return in nanoseconds; NaN where nothing has ended in that time
  public synchronized double[] quantilesNanos(long now, double... quantiles) {
    var sums = new long[BUCKETS];
    addTo(sums);
    if (!isRead || now - currentNanos > WINDOW_NANOS) {
      isRead = true;
      before = current;
      current = sums;
      currentNanos = now;
    }
    long all = 0;
    for (int i = 0; i < BUCKETS; i++) all += sums[i] - before[i];
    var found = new double[quantiles.length];
    for (int i = 0; i < found.length; i++) found[i] = quantile(sums, all, quantiles[i]);
    return found;
  }

  private double quantile(long[] sums, long all, double quantile) {
    if (all == 0) return Double.NaN;
    double wanted = quantile * (double) all;
    long seen = 0;
    for (int i = 0; i < BUCKETS; i++) {
      seen += sums[i] - before[i];
      if (seen >= wanted && seen > 0) return middle(i);
    }
    return middle(BUCKETS - 1);
  }
}
