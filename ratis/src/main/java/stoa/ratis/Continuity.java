package stoa.ratis;

import java.util.concurrent.atomic.AtomicLong;

/// Decides whether a leader that holds its lease may trust it: only when it has held it without a
/// break since the others agreed to something. Thread-safe; the caller reads the clock.
final class Continuity {
  /*
   * In Ratis a member that votes has counted its leader's silence before the question, and does not
   * count again when it votes. So a leader that was paused may get acknowledgements, and its lease
   * back, between the two questions of an election that it loses: it would trust itself while
   * another one leads.
   *
   * (1) When members said that the leader was silent for the shortest election time, its lease had
   *     been over for the difference of the two, `breakNanos`, as they count from acknowledgements
   *     of the same members.
   * (2) So a leader that looks at least that often, and always finds the lease, has not been voted
   *     out.
   * (3) What the others have agreed to is in the log of every later leader. A candidate has it from
   *     this leader, and so had to find it silent anew: the chain of looks may begin when that was
   *     proposed.
   */
  private final long breakNanos;
  private final AtomicLong certain;

  /// Creates it.
  ///
  /// @param breakNanos for how long the lease is over, at least, before another one may lead
  /// @param nowNanos the clock
  Continuity(long breakNanos, long nowNanos) {
    this.breakNanos = breakNanos;
    this.certain = new AtomicLong(nowNanos - 2 * breakNanos);
  }

  /// Returns whether the lease can be trusted.
  ///
  /// @param nowNanos the clock before the look at the lease
  boolean holds(long nowNanos) {
    if (nowNanos - certain.get() > breakNanos) return false;
    note(nowNanos);
    return true;
  }

  /// Records that the others have agreed to a proposal.
  void agreed(long proposedNanos) {
    note(proposedNanos);
  }

  private void note(long nanos) {
    var _ = certain.accumulateAndGet(nanos, (was, is) -> is - was > 0 ? is : was);
  }
}
