package stoa.store.watching;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/// How far the log is committed, and where those wait who follow it. Thread-safe.
public final class Progress {
  /*
   * Invariants:
   * (1) Everything up to counter is durable, or a hole, and every resident shows it.
   * (2) Who waits has counted itself before it looks, and who moves on looks for who waits after it
   *     has: nobody waits for what has come.
   */
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition moved = lock.newCondition();
  private final AtomicInteger waiting = new AtomicInteger();
  private volatile long counter;

  public Progress(long counter) {
    this.counter = counter;
  }

  /// The last log counter that is committed.
  public long counter() {
    return counter;
  }

  /// The leader has committed what is up to a counter.
  public void reach(long committed) {
    counter = committed;
    wake();
  }

  /// Lets those who wait look again.
  public void wake() {
    if (waiting.get() == 0) return;
    lock.lock();
    try {
      moved.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /// Waits until there is more than up to a counter, or something else has happened.
  ///
  /// @param nanosMax for how long
  /// @param otherwise what else ends the wait; whoever makes it so calls [#wake]
  /// @return how much of the time is left, not positive when it is over
  public long await(long seen, long nanosMax, BooleanSupplier otherwise)
      throws InterruptedException {
    long left = nanosMax;
    lock.lockInterruptibly();
    waiting.incrementAndGet();
    try {
      while (counter <= seen && left > 0 && !otherwise.getAsBoolean()) {
        left = moved.awaitNanos(left);
      }
      return left;
    } finally {
      waiting.decrementAndGet();
      lock.unlock();
    }
  }
}
