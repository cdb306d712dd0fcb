package stoa.sim.check;

import java.util.ArrayList;
import java.util.List;

/// Detects transactions that see an impossible state, whether they commit, abort or run again.
///
/// Two objects have values `x` and `y` whose sum is always the same and which always differ. A
/// transaction passes the values that it reads to [#saw], which divides by the difference, as
/// careless code would: an impossible state throws there. The probe remembers it, since a failed
/// transaction may run again in silence. Thread-safe.
public final class OpacityProbe {
  private static final int SHOWN_MAX = 10;

  private final long sum;
  private final List<String> torn = new ArrayList<>();
  private long count;

  /// Creates a probe of two values with the given sum; an odd one, so that they differ.
  ///
  /// @throws IllegalArgumentException when the sum is even
  public OpacityProbe(long sum) {
    if (sum % 2 == 0)
      throw new IllegalArgumentException(sum + " is even; two equal values make it");
    this.sum = sum;
  }

  /// Notes the two values that a transaction has read.
  ///
  /// @param who names the transaction in the message of [#require]
  /// @return the sum divided by the difference
  /// @throws IllegalStateException when the sum is wrong
  /// @throws ArithmeticException when the values do not differ
  public synchronized long saw(String who, long x, long y) {
    count++;
    if (x + y == sum) return sum / (x - y);
    if (torn.size() < SHOWN_MAX) torn.add("%s saw %d and %d".formatted(who, x, y));
    if (x == y) return sum / (x - y);
    throw new IllegalStateException("%d and %d do not add up to %d".formatted(x, y, sum));
  }

  /// Returns how often transactions read both values.
  public synchronized long count() {
    return count;
  }

  /// Throws when a transaction has seen an impossible state.
  ///
  /// @throws AssertionError with the first of these transactions
  public synchronized void require() {
    if (!torn.isEmpty()) throw new AssertionError("not opaque, with the sum " + sum + ": " + torn);
  }
}
