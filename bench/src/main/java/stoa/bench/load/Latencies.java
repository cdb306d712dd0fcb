package stoa.bench.load;

/// Counts durations in buckets that are at most 1/32 of their value wide.
///
/// One thread at a time uses it.
public final class Latencies {
  /*
   * Values below 32 have a bucket each. Above, a value v with highest bit b falls into one of 32
   * buckets of its power of two, by the five bits after the highest: bucket 32 * (b - 4) + those.
   */
  private static final int PARTS = 32;

  private final long[] counts = new long[PARTS * 60];
  private long count;
  private long sum;

  /// Counts one duration.
  public void add(long nanos) {
    counts[bucket(Math.max(0, nanos))]++;
    count++;
    sum += Math.max(0, nanos);
  }

  /// Adds the counts of another.
  public void add(Latencies other) {
    for (int i = 0; i < counts.length; i++) counts[i] += other.counts[i];
    count += other.count;
    sum += other.sum;
  }

  /// Returns the number of durations.
  public long count() {
    return count;
  }

  /// Returns the mean of the durations, in nanoseconds; 0 when there is none.
  public double mean() {
    return count == 0 ? 0 : (double) sum / count;
  }

  /// Returns a duration that the given share of the durations does not exceed, in nanoseconds; 0
  /// when there is none.
  public long quantile(double part) {
    long rank = (long) Math.ceil(part * count);
    long below = 0;
    for (int i = 0; i < counts.length && count > 0; i++) {
      below += counts[i];
      if (below >= rank && below > 0) return top(i);
    }
    return 0;
  }

  private static int bucket(long value) {
    if (value < PARTS) return (int) value;
    int high = 63 - Long.numberOfLeadingZeros(value);
    return PARTS * (high - 4) + (int) ((value >>> (high - 5)) & (PARTS - 1));
  }

  /// Returns the greatest value in a bucket.
  private static long top(int bucket) {
    if (bucket < PARTS) return bucket;
    int high = bucket / PARTS + 4;
    long part = bucket % PARTS + PARTS + 1L;
    return (part << (high - 5)) - 1;
  }
}
