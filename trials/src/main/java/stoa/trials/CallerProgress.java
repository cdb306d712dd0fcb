package stoa.trials;

import java.time.Duration;

/// The progress of calling threads, and the longest time without an answer. Thread-safe.
final class CallerProgress {
  // All guarded by this.
  private long taken;
  private boolean over;
  private long answeredNanos = System.nanoTime();
  private long longestNanos;

  /// Counts a turn.
  synchronized void taken() {
    taken++;
    notifyAll();
  }

  /// Waits for a number of further turns.
  ///
  /// @throws IllegalStateException when no more will come: a calling thread has failed
  synchronized void await(int more) throws InterruptedException {
    long all = taken + more;
    while (taken < all && !over) wait();
    if (taken < all) throw new IllegalStateException("the calls have ended before their time");
  }

  /// Ends the turns.
  synchronized void end() {
    over = true;
    notifyAll();
  }

  /// Returns whether the turns have ended.
  synchronized boolean areOver() {
    return over;
  }

  /// Notes an answer.
  synchronized void answered() {
    note();
  }

  private void note() {
    long now = System.nanoTime();
    longestNanos = Math.max(longestNanos, now - answeredNanos);
    answeredNanos = now;
  }

  /// Returns the longest time without an answer since the last call of this method.
  synchronized Duration longestSilence() {
    note();
    var longest = Duration.ofNanos(longestNanos);
    longestNanos = 0;
    return longest;
  }
}
