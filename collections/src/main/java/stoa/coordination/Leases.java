package stoa.coordination;

import java.time.Duration;
import java.time.Instant;

/// The checks and ends of leases, for the classes of this package. Stateless.
final class Leases {
  private Leases() {}

  static void check(Duration lease) {
    if (lease.isNegative() || lease.isZero()) {
      throw new IllegalArgumentException("a lease of " + lease + "; it must be positive");
    }
  }

  /// Returns when a lease ends.
  ///
  /// @throws IllegalArgumentException when no moment is that late
  static Instant end(Instant now, Duration lease) {
    if (lease.compareTo(Duration.between(now, Instant.MAX)) > 0) {
      throw new IllegalArgumentException(
          "a lease of " + lease + " ends behind the last moment that there is; give a shorter one");
    }
    return now.plus(lease);
  }
}
