package stoa.store.running;

import org.jspecify.annotations.Nullable;

/// Detects when a walk along runs, each of which waits for the next, goes in a circle.
///
/// One thread uses an instance, for one walk.
public final class WaitChain {
  /*
   * Runs may wait in a circle for a moment: from when the store refuses one of them until it has
   * left. A walk that enters the circle from outside never meets its own beginning. Brent's
   * algorithm ends it after a few rounds, and needs no memory for the runs that it has met.
   */
  private @Nullable Object kept;
  private int steps;
  private int stepsMax = 1;

  /// Begins a walk.
  public WaitChain() {}

  /// Takes the next run; returns whether the walk is known to go in a circle.
  public boolean isCircle(Object run) {
    if (run.equals(kept)) return true;
    if (++steps < stepsMax) return false;
    kept = run;
    steps = 0;
    stepsMax *= 2;
    return false;
  }
}
