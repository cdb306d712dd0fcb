package stoa;

import org.jspecify.annotations.Nullable;

/// What a transaction does.
///
/// It may run more than once, so that it changes nothing but shared objects.
///
/// @param <R> what it answers
/// @param <X> what it may throw, which rolls the transaction back
@FunctionalInterface
public interface Body<R extends @Nullable Object, X extends Exception> {
  /// Runs on the caller's thread. Calls on proxies that this thread makes take part in the
  /// transaction; threads that are started here are not in it.
  R run() throws X;
}
