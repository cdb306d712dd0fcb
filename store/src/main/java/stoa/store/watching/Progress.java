package stoa.store.watching;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/// The committed end of the log, and the threads that wait for it to rise. Thread-safe.
public final class Progress {
  /*
   * Invariants:
   * (1) Every entry up to counter is durable, or a hole, and every resident shows it.
   * (2) A thread that waits counts itself before it checks the counter. A thread that raises the
   *     counter looks for waiting threads after that. So no thread waits for an end that has been
   *     reached.
   */
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition moved = lock.newCondition();
  private final AtomicInteger waiting = new AtomicInteger();
  private volatile long counter;

  public Progress(long counter) {
    this.counter = counter;
  }

  /// Returns the last log counter that is committed.
  public long counter() {
    return counter;
  }

  /// Notes that the leader has committed the log up to a counter.
  public void reach(long committed) {
    counter = committed;
    wake();
  }

  /// Wakes the waiting threads, so that they check their condition again.
  public void wake() {
    if (waiting.get() == 0) return;
    lock.lock();
    try {
      moved.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /// Waits until the log is committed beyond a counter, or another condition holds.
  ///
  /// @param nanosMax how long to wait
  /// @param otherwise the other condition; a thread that makes it true calls [#wake]
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
