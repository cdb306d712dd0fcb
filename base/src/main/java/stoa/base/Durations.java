package stoa.base;

/// The durations of several latencies together, up to a moment. One owner uses it.
///
/// Two of them tell the quantiles of the time between their moments.
public final class Durations {
  private final long[] sums = new long[Latency.BUCKETS];

  /// Creates one without durations.
  public Durations() {}

  /// Adds all that a latency has recorded until now.
  public void add(Latency latency) {
    latency.addTo(sums);
  }

  /// Returns a quantile of the durations that came since an earlier moment; it is off by at most an
  /// eighth.
  ///
  /// @param before the same latencies at the earlier moment
  /// @param quantile between 0 and 1
  /// @return in nanoseconds; NaN when nothing has ended since
  public double quantileNanos(Durations before, double quantile) {
    long all = 0;
    for (int i = 0; i < sums.length; i++) all += since(before, i);
    if (all == 0) return Double.NaN;
    double wanted = quantile * (double) all;
    long seen = 0;
    for (int i = 0; i < sums.length; i++) {
      seen += since(before, i);
      if (seen >= wanted && seen > 0) return Latency.middle(i);
    }
    return Latency.middle(sums.length - 1);
  }

  /// A latency may have begun again meanwhile, where the leader of a group has changed.
  private long since(Durations before, int bucket) {
    return Math.max(0, sums[bucket] - before.sums[bucket]);
  }
}
