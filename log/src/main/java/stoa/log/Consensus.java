package stoa.log;

/// The port through which the replicas of a shard agree on one order of commands: each of them is
/// given the same commands at the same [Position]s, and tells its [Replica].
///
/// Thread-safe. Any number of threads propose at once; in which order that is, the outcomes tell.
public interface Consensus {
  /// Proposes a command, and waits until it is known what became of it. Not to be called by whoever
  /// applies commands: it would wait for itself.
  Result propose(byte[] command);

  /// Returns when it is certain that at some moment since the call nothing was acknowledged by any
  /// replica that this one does not show. It costs next to nothing while this replica leads and is
  /// in touch with the others.
  ///
  /// @throws stoa.Unavailable when this replica does not lead, or cannot be certain
  void confirm();

  /// The size in bytes of the largest command that can be proposed.
  int commandBytesMax();

  /// What became of a command.
  sealed interface Result {
    /// It has its place in the order for good, is durable, and was applied here.
    ///
    /// @param answer what the replica answered; it is the same at each of them
    @SuppressWarnings("ArrayRecordComponent") // a carrier, compared by nobody
    record Applied(byte[] answer) implements Result {}

    /// It never was, and never will be, in the order.
    ///
    /// @param cause why, and what to do
    record Refused(RuntimeException cause) implements Result {}

    /// It may be in the order, now or later, or never.
    ///
    /// @param cause why that is not known
    record Unknown(RuntimeException cause) implements Result {}
  }
}
