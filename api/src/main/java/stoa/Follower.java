package stoa;

import java.time.Duration;
import java.util.Optional;

/// A reader that follows the end of a log or stream as it grows.
///
/// It reads a bounded part ahead and keeps nothing else. A slow follower costs writers nothing and
/// loses nothing, until entries that it has not read are trimmed. One thread reads; any thread may
/// close.
///
/// @param <E> the type of the elements
public interface Follower<E> extends AutoCloseable {
  /// Waits for the next element, without limit, and returns it.
  ///
  /// @throws TooOld when it follows a stream, and the next element was trimmed
  /// @throws Closed when this or the store was closed, also during the wait
  /// @throws Unavailable when the store has failed
  E next() throws InterruptedException;

  /// Returns the next element, or nothing when none arrives within a time.
  ///
  /// @throws TooOld as [#next()]
  /// @throws Closed as [#next()]
  /// @throws Unavailable as [#next()]
  Optional<E> next(Duration timeoutMax) throws InterruptedException;

  /// Returns the next element if it is there already; never waits.
  Optional<E> poll();

  /// Ends the follower. Idempotent.
  @Override
  void close();
}
