package stoa.raft.core;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.raft.Member;

/// A core's knowledge of its group at a moment. Immutable.
///
/// @param alive whether it takes part
/// @param leads whether it leads
/// @param ready whether it leads and shows everything that was committed before
/// @param term the present term
/// @param leader the leader, as far as it is known; null when it is not
/// @param leaderSilentNanos for how long the leader has been silent; 0 for this member itself
/// @param members the voting members, and this one when it is no voting one yet; none while it is
///   to be added
/// @param membersIndex the index of the last known change of members
/// @param learners members that do not vote yet
/// @param first the index of the first entry in the log
/// @param last the index of the last one
/// @param committed the index up to which the log is known to be committed
/// @param matched at a leader: up to which index each other member has the log
/// @param heardNanos when each other member was heard last
/// @param quorumSilentNanos at a leader: for how long no majority was heard
public record CoreStatus(
    boolean alive,
    boolean leads,
    boolean ready,
    int term,
    @Nullable Member leader,
    long leaderSilentNanos,
    List<Member> members,
    long membersIndex,
    Set<String> learners,
    long first,
    long last,
    long committed,
    Map<String, Long> matched,
    Map<String, Long> heardNanos,
    long quorumSilentNanos) {
  /// The status before the start.
  static final CoreStatus NONE =
      new CoreStatus(
          true, false, false, 0, null, 0, List.of(), 0, Set.of(), 1, 0, 0, Map.of(), Map.of(), 0);
}
