package stoa;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.spi.Entered;

/// One change of a shared object, in the order of the log; see [ChangeStream].
///
/// A state is an instance of the object's class with the values of that moment, which belongs to
/// the reader: its methods run in this process, as in a unit test, and change no shared object.
/// Shared objects in it are live proxies.
///
/// @param <T> the type of the object
public sealed interface Change<T> {
  /// Returns where the change stands in the log.
  At at();

  /// Returns the state before the change; null when the object was absent, or the stream does not
  /// tell states ([Changes#withStates]).
  @Nullable T before();

  /// Returns the state after the change; null when the object is absent then, or the stream does
  /// not tell states.
  @Nullable T after();

  /// The place of a change.
  ///
  /// The changes of one transaction have one log address, and come one right after the other.
  ///
  /// @param object the object
  /// @param version the version of the object that the change made
  /// @param address the log address, which also names the transaction
  /// @param time when the store logged it
  /// @param index the place of the change among those of its transaction that the stream shows,
  ///   from 0
  /// @param size the number of these
  record At(Ref<?> object, long version, LogAddress address, Instant time, int index, int size) {
    /// Returns whether it is the last one of its transaction. A consumer that has handled it may
    /// store [#address()] as its token.
    public boolean isLast() {
      return index == size - 1;
    }
  }

  /// A call of a method was executed.
  ///
  /// @param creates whether the call created the object
  /// @param method the method's identity, see [MethodId]
  /// @param arguments its arguments; shared objects appear as proxies
  /// @param outcome what the call answered
  /// @param before see [Change#before]
  /// @param after see [Change#after]
  record Called<T>(
      At at,
      boolean creates,
      String method,
      List<?> arguments,
      Outcome outcome,
      @Nullable T before,
      @Nullable T after)
      implements Change<T> {
    /// Creates the change.
    public Called {
      arguments = arguments.stream().map(Entered.IndexedValue::shown).toList();
    }
  }

  /// [Stoa#create] created the object.
  ///
  /// @param after see [Change#after]
  record Created<T>(At at, @Nullable T after) implements Change<T> {
    @Override
    public @Nullable T before() {
      return null;
    }
  }

  /// Calls at clients changed the object, see [Placement#CLIENT].
  ///
  /// @param before see [Change#before]
  /// @param after see [Change#after]
  record Changed<T>(At at, @Nullable T before, @Nullable T after) implements Change<T> {}

  /// The object was deleted.
  ///
  /// @param before see [Change#before]
  record Deleted<T>(At at, @Nullable T before) implements Change<T> {
    @Override
    public @Nullable T after() {
      return null;
    }
  }

  /// The object was present when the stream began ([Changes#fromPresent]). Its log address is that
  /// moment; its version and time are those of its last change.
  ///
  /// @param after the state
  record Present<T>(At at, T after) implements Change<T> {
    @Override
    public @Nullable T before() {
      return null;
    }
  }

  /// The answer of a call.
  sealed interface Outcome {
    /// It returned.
    ///
    /// @param value the result; null also when the method has none
    record Returned(@Nullable Object value) implements Outcome {}

    /// It threw. Its changes before that stay.
    ///
    /// @param error what it threw
    record Threw(Throwable error) implements Outcome {}

    /// The stream does not tell answers ([Changes#withAnswers]).
    record NotAsked() implements Outcome {}
  }
}
