package stoa;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Predicate;

/// The changes of shared objects, in the order of the log; see [Stoa#changes].
///
/// It shows each change once, when the change is durable, executed, and can no longer be taken
/// back. So a call in progress holds up the changes behind it. A call that the store took back, or
/// that waits for a condition ([Awaits]), is no change. Accessors are not logged, and are none
/// either. Calls that a method makes on other objects are changes of those, each at a log address
/// of its own.
///
/// It reads a bounded part ahead and keeps nothing else. A slow consumer costs writers nothing, and
/// loses nothing until changes that it has not read are released ([Keep], [History#trim]); it then
/// gets [TooOld].
///
/// One thread reads; any thread may close.
///
/// @param <T> the type of the objects
public interface ChangeStream<T> extends AutoCloseable {
  /// Waits for the next change, without limit, and returns it.
  ///
  /// @throws TooOld when it was released
  /// @throws NotShareable when this process lacks a class that the change needs
  /// @throws DeadlineExceeded when a call in progress has held it up for too long; call again
  /// @throws Closed when this or the store was closed, also during the wait
  /// @throws Unavailable when the store has failed, or a group is away; call again, or open a
  ///   stream from the last token
  Change<T> next() throws InterruptedException;

  /// Returns the next change, or nothing when none comes within a time. Throws like [#next()].
  Optional<Change<T>> next(Duration timeMax) throws InterruptedException;

  /// Returns the next change if it is there already; does not wait for later ones. Throws like
  /// [#next()].
  Optional<Change<T>> poll();

  /// Passes each change to a consumer, until the consumer returns false. Throws like [#next()].
  default void forEach(Predicate<? super Change<T>> consumer) throws InterruptedException {
    while (consumer.test(next())) {
      // the next one
    }
  }

  /// Returns the log address from behind which a later stream goes on ([Changes#after]): that of
  /// the last transaction whose changes this has returned completely, or the one at which this
  /// began. It also moves on over entries that this does not show, when [#next(Duration)] or
  /// [#poll] returns nothing. A consumer that stores the token together with what it made of the
  /// changes handles each change exactly once.
  ///
  /// @throws IllegalStateException while this has not returned all present objects
  ///   ([Changes#fromPresent])
  LogAddress token();

  /// Ends the stream. Idempotent.
  @Override
  void close();
}
