package stoa.raft;

/// Receives the events of one replica in its group: one at a time, in order, on a thread on which
/// it may wait, and propose.
public interface Roles {
  /// This replica leads, and has applied everything that was committed before.
  ///
  /// @param term of this leadership; each has a greater one
  void leading(long term);

  /// This replica does not lead any more.
  void following();

  /// A member leads, as far as is known here.
  ///
  /// @param id of the member
  void leader(String id);

  /// The process of the member that led has ended, and no other one leads yet, as far as is known
  /// here.
  void leaderEnded();

  /// This replica has caught up from another one: its streams have jumped.
  void caughtUp();

  /// This replica has stopped, and takes no part until it is opened again: its device has failed,
  /// or it was removed from the members.
  void failed(Throwable cause);

  /// A member lacks entries that it must have, or has entries that the leader lacks and must have:
  /// one of the two was restored from an older copy. Called at the leader, or at the member that
  /// has more.
  ///
  /// @param member the member with the trouble
  /// @param trouble a description
  void alarm(String member, String trouble);
}
