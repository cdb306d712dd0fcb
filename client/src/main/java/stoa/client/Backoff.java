package stoa.client;

import java.util.random.RandomGenerator;

/// Computes the wait before the next attempt to connect: longer each time, up to a bound, and
/// different for each client. One owner calls it.
final class Backoff {
  private static final long FIRST_MILLIS = 20;
  private static final long MILLIS_MAX = 2_000;

  // The longest wait while servers answer that they do not know the next leader yet: they soon do.
  private static final long MILLIS_MAX_TOLD = 100;

  private final RandomGenerator random;
  private long millis = FIRST_MILLIS;

  Backoff(RandomGenerator random) {
    this.random = random;
  }

  /// Returns the next wait: half of it fixed, the other half random.
  ///
  /// @param told whether a server has answered since the last wait
  long nextMillis(boolean told) {
    long now = Math.min(millis, told ? MILLIS_MAX_TOLD : MILLIS_MAX);
    millis = Math.min(MILLIS_MAX, 2 * now);
    return now / 2 + random.nextLong(now / 2 + 1);
  }

  /// Notes a success: the waits begin again with the shortest.
  void reset() {
    millis = FIRST_MILLIS;
  }
}
