package stoa;

/// The body of a transaction without a result. It may run more than once, as a [Body] may.
///
/// @param <X> the exception that it may throw, which rolls the transaction back
@FunctionalInterface
public interface Action<X extends Exception> {
  /// Runs on the caller's thread, as [Body#run()] does.
  void run() throws X;
}
