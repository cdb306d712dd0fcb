package stoa.raft.core;

import java.util.List;
import java.util.Map;
import stoa.raft.Member;

/// Decides about votes beside Raft. A member that was restored from an older copy must not lead,
/// nor help to elect a leader that lacks entries which the member had acknowledged.
public interface Votes {
  /// Raft alone decides.
  Votes ALL = new Votes() {};

  /// Returns whether this member may stand for election.
  default boolean mayStand() {
    return true;
  }

  /// Returns whether this member may help to elect a candidate, by what the member itself had.
  ///
  /// @param last the index of the end of the candidate's log
  default boolean mayVote(long last) {
    return true;
  }

  /// Returns up to which index a member is known to have had the committed log; 0 when nothing is
  /// known.
  default long had(String member) {
    return 0;
  }

  /// Receives how much of the committed log each member is known to have had.
  default void had(List<Member> members, Map<String, Long> indices) {}
}
