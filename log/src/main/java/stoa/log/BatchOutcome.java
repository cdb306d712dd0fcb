package stoa.log;

/// The outcome of a batch.
public sealed interface BatchOutcome {
  /// It is durable and every replica will see it.
  record Committed() implements BatchOutcome {}

  /// Nothing was written: the log is sealed for the batch's epoch or term, or the batch repeats an
  /// earlier one.
  ///
  /// @param epoch the log's epoch
  record Fenced(long epoch) implements BatchOutcome {}

  /// Nothing was written: there is no room for it.
  ///
  /// @param cause the limit, with the remedy
  record Refused(RuntimeException cause) implements BatchOutcome {}

  /// It may or may not be durable. The log takes no more batches; reopening it shows.
  ///
  /// @param cause the failure
  record Unknown(RuntimeException cause) implements BatchOutcome {}
}
