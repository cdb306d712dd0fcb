package stoa.raft.core;

/// The contents of a log entry that is no change of the members.
sealed interface Payload {
  /// A command.
  ///
  /// @param term of the leader that logged it
  /// @param bytes the command
  @SuppressWarnings("ArrayRecordComponent") // a carrier, compared by no code
  record Command(int term, byte[] bytes) implements Payload {}

  /// The first entry of a leader.
  ///
  /// @param term of the leader
  record Begun(int term) implements Payload {}
}
