package stoa.stacksync.replay;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/// How long calls took. Immutable.
public final class Latencies {
  private final long[] sortedNanos;

  Latencies(List<Long> nanos) {
    sortedNanos = nanos.stream().mapToLong(Long::longValue).sorted().toArray();
  }

  /// How many calls there were.
  public int count() {
    return sortedNanos.length;
  }

  /// The time within which the given part of the calls was answered, exactly; zero when there were
  /// none.
  ///
  /// @param part from 0 to 1; 1 is the longest time
  public Duration percentile(double part) {
    if (part < 0 || part > 1) {
      throw new IllegalArgumentException("the part " + part + " is not between 0 and 1");
    }
    if (sortedNanos.length == 0) return Duration.ZERO;
    int rank = (int) Math.ceil(part * sortedNanos.length);
    return Duration.ofNanos(sortedNanos[Math.max(0, rank - 1)]);
  }

  @Override
  public String toString() {
    return Arrays.toString(sortedNanos);
  }
}
