package stoa;

import org.jspecify.annotations.Nullable;

/// The body of a transaction.
///
/// It may run more than once, so it must change nothing but shared objects.
///
/// @param <R> the type of its result
/// @param <X> the exception that it may throw, which rolls the transaction back
@FunctionalInterface
public interface TransactionBody<R extends @Nullable Object, X extends Exception> {
  /// Runs on the caller's thread. Calls on proxies by this thread take part in the transaction.
  /// Calls by threads that the body starts do not.
  R run() throws X;
}
