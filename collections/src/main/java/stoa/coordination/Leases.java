package stoa.coordination;

import java.time.Duration;

/// Checks of arguments that several classes of this package have. Stateless.
final class Leases {
  private Leases() {}

  static void check(Duration lease) {
    if (lease.isNegative() || lease.isZero()) {
      throw new IllegalArgumentException("a lease of " + lease + "; it must be positive");
    }
  }
}
