package stoa.trials;

import java.time.Duration;

/// How far threads that make calls have come, and for how long nobody was answered. Thread-safe.
final class Turns {
  // All guarded by this.
  private long taken;
  private boolean over;
  private long answeredNanos = System.nanoTime();
  private long longestNanos;

  /// One was taken.
  synchronized void taken() {
    taken++;
    notifyAll();
  }

  /// Waits until so many more were taken.
  ///
  /// @throws IllegalStateException when no more will be: somebody who takes them has failed
  synchronized void await(int more) throws InterruptedException {
    long all = taken + more;
    while (taken < all && !over) wait();
    if (taken < all) throw new IllegalStateException("the calls have ended before their time");
  }

  /// No more are to be taken.
  synchronized void end() {
    over = true;
    notifyAll();
  }

  /// Returns whether no more are to be taken.
  synchronized boolean areOver() {
    return over;
  }

  /// A call was answered.
  synchronized void answered() {
    note();
  }

  private void note() {
    long now = System.nanoTime();
    longestNanos = Math.max(longestNanos, now - answeredNanos);
    answeredNanos = now;
  }

  /// The longest time without an answer since this was asked last.
  synchronized Duration longestSilence() {
    note();
    var longest = Duration.ofNanos(longestNanos);
    longestNanos = 0;
    return longest;
  }
}
