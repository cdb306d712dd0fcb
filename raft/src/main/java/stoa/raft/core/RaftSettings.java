package stoa.raft.core;

import stoa.raft.Member;

/// The settings of a [Core].
///
/// @param self this member
/// @param electionNanos the silence of a leader after which members look for another one
/// @param leaseNanos how long a leader is certain of its leadership after a majority has answered
/// @param endedNanos the silence after which members look for another one, when nothing listens any
///   more where the leader was; longer than the lease by more than clocks differ in speed
/// @param doublingsMax how many times the wait between elections doubles, while they fail
/// @param snapshotCommands after how many commands the replica becomes durable, and the log forgets
///   them
/// @param snapshotBytes after how many bytes of commands it does so, too
/// @param pendingMax the most commands that are proposed and not committed
/// @param messageBytesMax the size after which no further entry is added to a message
public record RaftSettings(
    Member self,
    long electionNanos,
    long leaseNanos,
    long endedNanos,
    int doublingsMax,
    int snapshotCommands,
    long snapshotBytes,
    int pendingMax,
    int messageBytesMax) {}
