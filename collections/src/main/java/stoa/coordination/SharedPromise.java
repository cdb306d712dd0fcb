package stoa.coordination;

import java.util.Objects;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Awaits;
import stoa.Call;
import stoa.Shared;
import stoa.spi.Forkable;

/// A value that some program provides once, and for which others wait
/// ([java.util.concurrent.CompletableFuture]).
///
/// Open it with [Coordination#promise].
///
/// @param <T> the class of the value: any value that may be an argument of a shared object
@Shared(name = "stoa.Promise")
public class SharedPromise<T> implements Forkable<SharedPromise<T>> {
  private boolean isDone;
  private @Nullable Object value;
  private @Nullable String failure;

  /// For the store: a promise that is not completed.
  protected SharedPromise() {}

  /// Completes the promise with a value, unless it is completed already; returns whether it did.
  ///
  /// @param result may be null
  public boolean complete(@Nullable T result) {
    if (isDone) return false;
    isDone = true;
    value = result;
    return true;
  }

  /// Completes the promise with a failure, unless it is completed already; returns whether it did.
  ///
  /// @param reason becomes the message of what [#get] throws
  public boolean completeExceptionally(String reason) {
    Objects.requireNonNull(reason, "the reason is null");
    if (isDone) return false;
    isDone = true;
    failure = reason;
    return true;
  }

  /// Waits until the promise is completed.
  ///
  /// @return its value
  /// @throws ExecutionException when it was completed with a failure
  @Awaits
  public @Nullable T get() throws ExecutionException {
    Call.await(() -> isDone);
    return result();
  }

  /// Returns the value, or another one while the promise is not completed.
  ///
  /// @throws ExecutionException when it was completed with a failure
  @Accessor
  public @Nullable T getNow(@Nullable T absent) throws ExecutionException {
    return isDone ? result() : absent;
  }

  /// Returns whether the promise is completed.
  @Accessor
  public boolean isDone() {
    return isDone;
  }

  /// Returns whether the promise is completed with a failure.
  @Accessor
  public boolean isCompletedExceptionally() {
    return failure != null;
  }

  @SuppressWarnings("unchecked") // Justification: what complete(T) got
  private @Nullable T result() throws ExecutionException {
    if (failure != null) throw new ExecutionException(failure, null);
    return (T) value;
  }

  @Override
  public SharedPromise<T> fork() {
    var copy = new SharedPromise<T>();
    copy.isDone = isDone;
    copy.value = value;
    copy.failure = failure;
    return copy;
  }
}
