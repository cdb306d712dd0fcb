package stoa;

import org.jspecify.annotations.Nullable;

/// One call on a shared object, for [Stoa#async].
///
/// @param <T> the type of the object
/// @param <R> the type of the answer
@FunctionalInterface
public interface Call1<T, R extends @Nullable Object> {
  /// Makes exactly one call on the given object and returns its answer.
  R on(T shared) throws Exception;
}
