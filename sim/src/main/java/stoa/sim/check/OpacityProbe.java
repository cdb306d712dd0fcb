package stoa.sim.check;

import java.util.ArrayList;
import java.util.List;

/// Watches whether a transaction sees a state that never was, be it one that will commit, abort or
/// be tried again.
///
/// Two objects have values `x` and `y` whose sum is always the same and which always differ. A
/// transaction hands what it reads to [#saw], which divides by the difference, as careless code
/// would: a state that never was throws there, and is remembered, since a transaction that fails
/// may be tried again in silence. Thread-safe.
public final class OpacityProbe {
  private static final int SHOWN_MAX = 10;

  private final long sum;
  private final List<String> torn = new ArrayList<>();
  private long count;

  /// A probe of two values with the given sum; an odd one, so that they differ.
  ///
  /// @throws IllegalArgumentException when the sum is even
  public OpacityProbe(long sum) {
    if (sum % 2 == 0)
      throw new IllegalArgumentException(sum + " is even; two equal values make it");
    this.sum = sum;
  }

  /// A transaction has read both values.
  ///
  /// @param who names it in what [#require] says
  /// @return the sum divided by the difference
  /// @throws IllegalStateException when the sum is not what it always is
  /// @throws ArithmeticException when the values do not differ
  public synchronized long saw(String who, long x, long y) {
    count++;
    if (x + y == sum) return sum / (x - y);
    if (torn.size() < SHOWN_MAX) torn.add("%s saw %d and %d".formatted(who, x, y));
    if (x == y) return sum / (x - y);
    throw new IllegalStateException("%d and %d do not add up to %d".formatted(x, y, sum));
  }

  /// How often both values were read.
  public synchronized long count() {
    return count;
  }

  /// Throws when anybody ever saw a state that never was.
  ///
  /// @throws AssertionError with the first of those who did
  public synchronized void require() {
    if (!torn.isEmpty()) throw new AssertionError("not opaque, with the sum " + sum + ": " + torn);
  }
}
