package stoa.client;

import java.util.random.RandomGenerator;

/// How long to wait before the next attempt to connect: longer each time, up to a bound, and never
/// the same for all clients. One owner calls it.
final class Backoff {
  private static final long FIRST_MILLIS = 20;
  private static final long MILLIS_MAX = 2_000;

  // The most while servers answer which do not know yet who leads next: that is soon over.
  private static final long MILLIS_MAX_TOLD = 100;

  private final RandomGenerator random;
  private long millis = FIRST_MILLIS;

  Backoff(RandomGenerator random) {
    this.random = random;
  }

  /// The next wait: half of it for sure, the other half at random.
  ///
  /// @param told whether a server has answered since the last one
  long nextMillis(boolean told) {
    long now = Math.min(millis, told ? MILLIS_MAX_TOLD : MILLIS_MAX);
    millis = Math.min(MILLIS_MAX, 2 * now);
    return now / 2 + random.nextLong(now / 2 + 1);
  }

  /// It went well.
  void reset() {
    millis = FIRST_MILLIS;
  }
}
