package stoa.raft.core;

/// How long a member waits between elections. While elections fail one after the other, it waits
/// twice as long after each of them. One owner: the core, which reads the clock.
///
/// A network or a machine may be so slow that each election is overtaken by the next one: votes
/// come when their term is over. With longer waits, some election gets its votes in time.
final class Patience {
  /*
   * (1) An election has failed when another term begins and nobody has heard a leader of the term
   *     before. Each member counts by itself, and each sees the terms of the others.
   * (2) A member that has begun an election, or has given its vote, begins no other election until
   *     the wait is over. Until then, answers to its earlier questions for votes do not count.
   * (3) A new leader waits for answers by the same factor longer. This ends by itself after as many
   *     usual times, so a leader that is cut off at once keeps its role no longer than it waited for
   *     votes.
   * (4) The wait is the usual one again when a leader is heard, or this member is a ready leader. So
   *     the election after the end of a leader does not wait.
   */
  private final long usualNanos;
  private final int doublingsMax;

  private int term;
  private boolean hasLeader = true;
  private int doublings;
  private boolean hasVoted;
  private long sinceNanos;

  /// Creates it.
  ///
  /// @param usualNanos how long a member waits while no election has failed
  /// @param doublingsMax how many times that doubles
  /// @param term the term in which the member begins
  Patience(long usualNanos, int doublingsMax, int term) {
    this.usualNanos = usualNanos;
    this.doublingsMax = doublingsMax;
    this.term = term;
  }

  /// Records the present term.
  void inTerm(int present) {
    if (present <= term) return;
    if (!hasLeader) doublings = Math.min(doublings + 1, doublingsMax);
    term = present;
    hasLeader = false;
  }

  /// Records that this member votes: for itself, when it begins an election, or for another one.
  void votes(long nowNanos) {
    hasVoted = true;
    sinceNanos = nowNanos;
  }

  /// Records that the present term has a leader.
  void hasLeader() {
    hasLeader = true;
    doublings = 0;
  }

  /// Returns how many times as long as usual the member waits.
  int factor() {
    return 1 << doublings;
  }

  /// Returns whether the member must not begin an election yet.
  boolean waits(long nowNanos) {
    return doublings > 0 && hasVoted && nowNanos - sinceNanos < usualNanos * factor();
  }
}
