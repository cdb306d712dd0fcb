package stoa.raft.core;

/// How long a leader is certain that no other one leads. Thread-safe; the caller reads the clock.
///
/// MicroRaft's own lease counts from the arrival of an answer and is not used.
public final class Lease {
  /*
   * (1) A member that has answered a leader does not help to elect another one for the election
   *     time: it refuses questions and votes, and a member that has just started answers neither
   *     for that long (Core). When nothing listens where the leader was, it does so after
   *     `RaftSettings.endedNanos`, if the leader has told that its lease is as short as here: that of
   *     an earlier release is longer. So from the time at which the leader began to ask a majority, no
   *     other leader is elected for that shorter time, of which `nanos` is a part. The rest is for
   *     clocks that run at different speeds. The certainty does not rest on the end of the process:
   *     a network may refuse connections to a leader that still serves its clients.
   * (2) A leader that hands over allows its successor to break (1). Messages of such an attempt may
   *     arrive late. From then on, only a command that was proposed later makes it certain again:
   *     when a majority has it, they refuse the votes of a log without it.
   */
  private final long nanos;

  // Guarded by this; read without it.
  private volatile boolean held;
  private volatile long sinceNanos;
  private boolean revoked;
  private long revokedNanos;

  /// Creates it.
  ///
  /// @param nanos how long it lasts
  public Lease(long nanos) {
    this.nanos = nanos;
  }

  /// Returns whether no other member leads.
  public boolean holds(long nowNanos) {
    return held && nowNanos - sinceNanos < nanos;
  }

  /// Records that a majority has a command.
  ///
  /// @param proposedNanos when the leader began to propose it
  synchronized void agreed(long proposedNanos) {
    if (revoked && proposedNanos - revokedNanos <= 0) return;
    revoked = false;
    note(proposedNanos);
  }

  /// Records that a majority has answered.
  ///
  /// @param askedNanos when the leader began to ask
  synchronized void answered(long askedNanos) {
    if (!revoked) note(askedNanos);
  }

  private void note(long nanosBegun) {
    if (held && sinceNanos - nanosBegun >= 0) return;
    sinceNanos = nanosBegun;
    held = true;
  }

  /// Records that the leader asks another one to take over.
  synchronized void revoke(long nowNanos) {
    revoked = true;
    revokedNanos = nowNanos;
    held = false;
  }

  /// Records that this member leads no more, or leads anew.
  synchronized void end() {
    revoked = false;
    held = false;
  }
}
