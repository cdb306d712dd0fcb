package stoa;

import org.jspecify.annotations.Nullable;

/// One call on a shared object, as given to [Stoa#async].
///
/// @param <T> the type of the object
/// @param <R> what the call answers
@FunctionalInterface
public interface Call1<T, R extends @Nullable Object> {
  /// Makes exactly one call on the given object and returns what it returns.
  R on(T shared) throws Exception;
}
