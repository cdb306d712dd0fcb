package stoa.coordination;

import stoa.Accessor;
import stoa.Awaits;
import stoa.Call;
import stoa.Shared;
import stoa.spi.Forkable;

/// A number of permits, which callers acquire and release ([java.util.concurrent.Semaphore]).
///
/// Create it with its permits: `stoa.create(SharedSemaphore.class, name, 3)`. Opened otherwise it
/// has none. Permits belong to no caller: those of a program that is gone stay acquired, until
/// another program releases them.
///
/// Calls of [#acquire] that wait go on in the order of their arrival, so one that needs many
/// permits does not starve. [#tryAcquire] passes those that wait.
@Shared(name = "stoa.Semaphore")
public class SharedSemaphore implements Forkable<SharedSemaphore> {
  private int permits;

  /// For the store: a semaphore without permits.
  protected SharedSemaphore() {}

  /// Creates a semaphore with some permits.
  ///
  /// @throws IllegalArgumentException when the number is negative
  public SharedSemaphore(int permits) {
    if (permits < 0)
      throw new IllegalArgumentException(permits + " permits; at least 0 are needed");
    this.permits = permits;
  }

  /// Waits until there are some permits, and acquires them.
  ///
  /// @throws IllegalArgumentException when the number is not positive
  @Awaits(inOrder = true)
  public void acquire(int count) {
    check(count);
    Call.await(() -> permits >= count);
    permits -= count;
  }

  /// Acquires some permits if there are so many; returns whether it did.
  ///
  /// @throws IllegalArgumentException when the number is not positive
  public boolean tryAcquire(int count) {
    check(count);
    if (permits < count) return false;
    permits -= count;
    return true;
  }

  /// Acquires all permits that there are; returns how many.
  public int drainPermits() {
    int all = permits;
    permits = 0;
    return all;
  }

  /// Adds some permits.
  ///
  /// @throws IllegalArgumentException when the number is not positive
  /// @throws ArithmeticException when there would be more than an `int` can count
  public void release(int count) {
    check(count);
    permits = Math.addExact(permits, count);
  }

  /// Returns how many permits there are.
  @Accessor
  public int availablePermits() {
    return permits;
  }

  private static void check(int count) {
    if (count <= 0) throw new IllegalArgumentException(count + " permits; it must be positive");
  }

  @Override
  public SharedSemaphore fork() {
    return new SharedSemaphore(permits);
  }
}
