package stoa.coordination;

import stoa.Accessor;
import stoa.Awaits;
import stoa.Call;
import stoa.Shared;
import stoa.spi.Forkable;

/// A count that falls to 0, for which callers wait ([java.util.concurrent.CountDownLatch]).
///
/// Create it with its count: `stoa.create(SharedLatch.class, name, 3)`. Opened otherwise its count
/// is 0. The count never rises.
@Shared(name = "stoa.Latch")
public class SharedLatch implements Forkable<SharedLatch> {
  private long count;

  /// For the store: a latch whose count is 0.
  protected SharedLatch() {}

  /// Creates a latch with a count.
  ///
  /// @throws IllegalArgumentException when the count is negative
  public SharedLatch(long count) {
    if (count < 0) throw new IllegalArgumentException("a count of " + count + "; at least 0");
    this.count = count;
  }

  /// Waits until the count is 0.
  @Awaits
  public void await() {
    Call.await(() -> count == 0);
  }

  /// Lowers the count by one if it is not 0; returns the new count.
  public long countDown() {
    if (count > 0) count--;
    return count;
  }

  /// Returns the count.
  @Accessor
  public long count() {
    return count;
  }

  @Override
  public SharedLatch fork() {
    return new SharedLatch(count);
  }
}
