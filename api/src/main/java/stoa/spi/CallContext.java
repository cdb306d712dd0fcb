package stoa.spi;

import java.time.Instant;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import stoa.Schedule;
import stoa.Stoa;

/// The call that the current thread executes. The engine binds it around a user's method.
///
/// An instance belongs to one call; only the thread that executes the call uses it.
public interface CallContext {
  /// The engine binds this while a method of a shared object runs.
  ScopedValue<CallContext> CURRENT = ScopedValue.newInstance();

  /// Returns the call in progress.
  static CallContext current() {
    if (!CURRENT.isBound()) {
      throw new IllegalStateException(
          "stoa.Call is for methods of shared objects; no such call is running on this thread");
    }
    return CURRENT.get();
  }

  /// See [stoa.Call#now()].
  Instant now();

  /// See [stoa.Call#random()].
  RandomGenerator random();

  /// See [stoa.Call#get].
  <T> T get(Class<T> type, Object key, @Nullable Object... args);

  /// Opens a collection, see [stoa.Call#map] and its neighbors.
  ///
  /// @param opening opens it in the store that it gets
  default <T> T collection(Function<Stoa, T> opening) {
    throw new UnsupportedOperationException(
        "this method runs outside of a store, where there are no collections");
  }

  /// See [stoa.Call#await].
  default void await(BooleanSupplier condition) {
    throw new IllegalStateException(
        "a call can wait for a condition only in a method with @Awaits that a caller outside calls,"
            + " and not in an accessor, in a transaction, in a constructor or at a client");
  }

  /// See [stoa.Call#schedule].
  ///
  /// @param name null for a timer without a name
  default <T> T schedule(@Nullable String name, Schedule schedule, T target) {
    throw noTimers();
  }

  /// See [stoa.Call#cancelTimer].
  default boolean cancelTimer(String name, Object target) {
    throw noTimers();
  }

  /// See [stoa.Call#tag].
  default void tag(String tag, Object shared) {
    throw noTags();
  }

  /// See [stoa.Call#untag].
  default boolean untag(String tag, Object shared) {
    throw noTags();
  }

  private static UnsupportedOperationException noTags() {
    return new UnsupportedOperationException(
        "this method runs outside of a store, where there are no tags");
  }

  private static UnsupportedOperationException noTimers() {
    return new UnsupportedOperationException(
        "this method runs outside of a store, where there are no timers");
  }

  /// Makes this call one that nothing takes back, neither a time limit nor an operator. Before its
  /// first call of another object.
  default void stand() {}

  /// Makes the call of a timer, as part of this call.
  ///
  /// @return false when the object was deleted
  /// @throws Throwable what the called method throws, or why it cannot be called
  default boolean make(TimerCall call) throws Throwable {
    throw noTimers();
  }

  /// Refuses an operation on a store, when the method runs outside of all stores.
  ///
  /// @param operation completes "a method cannot …"
  default void refuseOutside(String operation) {}

  /// See [stoa.Call#version()].
  long version();
}
