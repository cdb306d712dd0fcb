package stoa;

import java.time.Duration;
import java.util.Optional;

/// A reader that stays behind the end of a log or stream, and goes on as it grows.
///
/// It reads ahead a bounded part and remembers nothing else: one that is slow, or not read at all,
/// costs its writers nothing and loses nothing, until what it has not read is trimmed. One thread
/// reads; any thread may close.
///
/// @param <E> what is read
public interface Follower<E> extends AutoCloseable {
  /// The next element, for which it waits without limit.
  ///
  /// @throws TooOld when it follows a stream, and the next one was trimmed
  /// @throws Closed when this or the store was closed, also while it waits
  /// @throws Unavailable when the store has failed
  E next() throws InterruptedException;

  /// The next element, or nothing when none has come within a time.
  ///
  /// @throws TooOld as [#next()]
  /// @throws Closed as [#next()]
  /// @throws Unavailable as [#next()]
  Optional<E> next(Duration timeoutMax) throws InterruptedException;

  /// The next element when there is one now; never waits.
  Optional<E> poll();

  /// Ends it. Idempotent.
  @Override
  void close();
}
