package stoa.coordination;

import java.time.Duration;
import java.time.Instant;

/// The checks and ends of leases and other times, for the classes of this package. Stateless.
final class Leases {
  private Leases() {}

  static void check(Duration lease) {
    if (lease.isNegative() || lease.isZero()) {
      throw new IllegalArgumentException("a lease of " + lease + "; it must be positive");
    }
  }

  /// Returns when a time ends; the last moment that there is for a longer one.
  static Instant end(Instant now, Duration time) {
    Duration rest = Duration.between(now, Instant.MAX);
    return time.compareTo(rest) < 0 ? now.plus(time) : Instant.MAX;
  }
}
