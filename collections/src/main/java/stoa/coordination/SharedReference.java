package stoa.coordination;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Mutator;
import stoa.Shared;
import stoa.spi.Forkable;

/// A variable that holds a value or a shared object
/// ([java.util.concurrent.atomic.AtomicReference]).
///
/// It compares by `equals`: a value that travels has no identity. It begins with null. Methods that
/// take a function are not here, since functions do not travel: use a transaction, or a class of
/// your own.
///
/// Open it with [Coordination#reference].
///
/// @param <T> the class of the value: any value that may be an argument of a shared object
@Shared(name = "stoa.Reference")
public class SharedReference<T> implements Forkable<SharedReference<T>> {
  private @Nullable Object value;

  /// For the store: a reference that holds null.
  protected SharedReference() {}

  /// Returns the value.
  @Accessor
  @SuppressWarnings("unchecked") // Justification: what set(T) got
  public @Nullable T get() {
    return (T) value;
  }

  /// Sets the value.
  @Mutator
  public void set(@Nullable T next) {
    value = next;
  }

  /// Sets the value; returns the one before.
  public @Nullable T getAndSet(@Nullable T next) {
    T before = get();
    value = next;
    return before;
  }

  /// Sets the value if it equals an expected one; returns whether it did.
  public boolean compareAndSet(@Nullable T expected, @Nullable T next) {
    if (!Objects.equals(value, expected)) return false;
    value = next;
    return true;
  }

  /// Sets the value if it equals an expected one; returns the one before.
  public @Nullable T compareAndExchange(@Nullable T expected, @Nullable T next) {
    T before = get();
    if (Objects.equals(before, expected)) value = next;
    return before;
  }

  @Override
  public SharedReference<T> fork() {
    var copy = new SharedReference<T>();
    copy.value = value;
    return copy;
  }
}
