package stoa;

/// The body of a transaction without a result. It may run more than once, as a [TransactionBody]
/// may.
///
/// @param <X> the exception that it may throw, which rolls the transaction back
@FunctionalInterface
public interface TransactionAction<X extends Exception> {
  /// Runs on the caller's thread, as [TransactionBody#run()] does.
  void run() throws X;
}
