package stoa;

/// What a transaction does that answers nothing. It may run more than once, as a [Body] may.
///
/// @param <X> what it may throw, which rolls the transaction back
@FunctionalInterface
public interface Action<X extends Exception> {
  /// Runs on the caller's thread, as [Body#run()] does.
  void run() throws X;
}
