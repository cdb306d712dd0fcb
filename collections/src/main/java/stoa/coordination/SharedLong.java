package stoa.coordination;

import stoa.Accessor;
import stoa.Commutes;
import stoa.Mutator;
import stoa.Shared;
import stoa.spi.Forkable;

/// A number that many programs change ([java.util.concurrent.atomic.AtomicLong]).
///
/// It begins with 0, or with the value with which it is created. Sums wrap around, as those of
/// `long` do. Transactions that call only [#add] do not conflict with each other. Methods that take
/// a function are not here, since functions do not travel: use a transaction, or a class of your
/// own.
@Shared(name = "stoa.Long")
public class SharedLong implements Forkable<SharedLong> {
  private long value;

  /// For the store: the number 0.
  protected SharedLong() {}

  /// Creates a number.
  public SharedLong(long value) {
    this.value = value;
  }

  /// Returns the number.
  @Accessor
  public long get() {
    return value;
  }

  /// Sets the number.
  @Mutator
  public void set(long next) {
    value = next;
  }

  /// Adds to the number, and tells nothing.
  @Mutator
  @Commutes
  public void add(long delta) {
    value += delta;
  }

  /// Sets the number; returns the one before.
  public long getAndSet(long next) {
    long before = value;
    value = next;
    return before;
  }

  /// Sets the number if it is the expected one; returns whether it did.
  public boolean compareAndSet(long expected, long next) {
    if (value != expected) return false;
    value = next;
    return true;
  }

  /// Sets the number if it is the expected one; returns the one before.
  public long compareAndExchange(long expected, long next) {
    long before = value;
    if (before == expected) value = next;
    return before;
  }

  /// Adds to the number; returns the sum.
  public long addAndGet(long delta) {
    value += delta;
    return value;
  }

  /// Adds to the number; returns the one before.
  public long getAndAdd(long delta) {
    long before = value;
    value += delta;
    return before;
  }

  /// Adds 1; returns the sum.
  public long incrementAndGet() {
    return addAndGet(1);
  }

  /// Adds 1; returns the number before.
  public long getAndIncrement() {
    return getAndAdd(1);
  }

  /// Subtracts 1; returns the difference.
  public long decrementAndGet() {
    return addAndGet(-1);
  }

  /// Subtracts 1; returns the number before.
  public long getAndDecrement() {
    return getAndAdd(-1);
  }

  @Override
  public SharedLong fork() {
    return new SharedLong(value);
  }
}
