package stoa.raft;

import stoa.Unavailable;
import stoa.log.Position;
import stoa.log.Replica;

/// A way for the replicas of groups to agree. A group without a log begins at the positions of its
/// replicas, which are those of one restored backup.
public interface ConsensusEngine {
  /// Starts a node without groups.
  ///
  /// @param questions answers the questions of other nodes
  /// @param reach the nodes that it can talk to; asked at each message, and quick
  /// @throws Unavailable when it cannot listen, or its directory cannot be used, as one that
  ///   another consensus wrote
  Node start(NodeConfig config, QuestionHandler questions, Reach reach);

  /// Makes one member of a group that has lost most of its members the first one of a group of its
  /// own. The replica gets all that is in the log, also entries that are not known to be committed,
  /// and the log is put aside. The node that hosts it must not run.
  ///
  /// @param config with the directory of the node
  /// @param replica of this member, stays open
  /// @return the position of the replica
  /// @throws Unavailable when the log cannot be read, or this was no member, as far as it knows
  Position continueAlone(NodeConfig config, GroupId name, Replica replica);
}
