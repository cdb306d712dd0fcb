package stoa.ratis;

/// Is told what becomes of one replica in its group: one event at a time, in order, on a thread on
/// which it may wait, and propose.
public interface Roles {
  /// This replica leads, and has applied all that was committed before.
  ///
  /// @param term of this leadership; each has a greater one
  void leading(long term);

  /// This replica does not lead any more.
  void following();

  /// Who leads by what is known here.
  ///
  /// @param id of the member
  void leader(String id);

  /// This replica has got from another one what it lacked: its streams have jumped.
  void caughtUp();

  /// This replica has stopped, and takes no part until it is opened again: its device has failed,
  /// or it was removed from the members.
  void failed(Throwable cause);

  /// A member does not have what it must have, or has what the leader must have and has not: one of
  /// the two is an older copy than it was. Told at the leader, or at the member that has more.
  ///
  /// @param member whose replica is in trouble
  /// @param trouble what is known of it
  void alarm(String member, String trouble);
}
