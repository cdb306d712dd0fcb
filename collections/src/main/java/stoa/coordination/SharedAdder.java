package stoa.coordination;

import stoa.Accessor;
import stoa.Commutes;
import stoa.Mutator;
import stoa.Shared;
import stoa.spi.Forkable;

/// A sum to which many programs add ([java.util.concurrent.atomic.LongAdder]).
///
/// It begins with 0 and wraps around, as sums of `long` do. Transactions that add to it do not
/// conflict with each other.
@Shared(name = "stoa.Adder")
public class SharedAdder implements Forkable<SharedAdder> {
  private long sum;

  /// For the store: the sum 0.
  protected SharedAdder() {}

  /// Adds to the sum.
  @Mutator
  @Commutes
  public void add(long delta) {
    sum += delta;
  }

  /// Adds 1.
  @Mutator
  @Commutes
  public void increment() {
    sum++;
  }

  /// Subtracts 1.
  @Mutator
  @Commutes
  public void decrement() {
    sum--;
  }

  /// Returns the sum.
  @Accessor
  public long sum() {
    return sum;
  }

  /// Sets the sum to 0.
  @Mutator
  public void reset() {
    sum = 0;
  }

  /// Sets the sum to 0; returns the one before.
  public long sumThenReset() {
    long before = sum;
    sum = 0;
    return before;
  }

  @Override
  public SharedAdder fork() {
    var copy = new SharedAdder();
    copy.sum = sum;
    return copy;
  }
}
