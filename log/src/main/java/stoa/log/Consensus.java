package stoa.log;

/// The port through which the replicas of a group agree on one order of commands: each gets the
/// same commands at the same [Position]s, and passes them to its [Replica].
///
/// Thread-safe. Any number of threads propose at once; the outcomes show the order.
public interface Consensus {
  /// Proposes a command, and waits until its outcome is known. A thread that applies commands must
  /// not call it: it would wait for itself.
  Result propose(byte[] command);

  /// Returns when it is certain that at some moment since the call no replica had acknowledged
  /// anything that this one does not show. It costs next to nothing while this replica leads and is
  /// in touch with the others.
  ///
  /// @throws stoa.Unavailable when this replica does not lead, or cannot be certain
  void confirm();

  /// Returns the size in bytes of the largest command.
  int commandBytesMax();

  /// The outcome of a command.
  sealed interface Result {
    /// It has its place in the order for good, is durable, and was applied here.
    ///
    /// @param answer the answer of the replica, the same at each of them
    @SuppressWarnings("ArrayRecordComponent") // a carrier, compared by no code
    record Applied(byte[] answer) implements Result {}

    /// The command never was, and never will be, in the order.
    ///
    /// @param cause why, with the remedy
    record Refused(RuntimeException cause) implements Result {}

    /// It may be in the order, now or later, or never.
    ///
    /// @param cause why that is unknown
    record Unknown(RuntimeException cause) implements Result {}
  }
}
