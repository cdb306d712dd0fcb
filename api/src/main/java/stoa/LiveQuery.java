package stoa;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/// The answer of a query, and its changes; see [Query#watch].
///
/// It returns the answer of the present first. From then on it waits for calls that may change the
/// answer, asks again, and returns the answer that differs from the one before: in its objects or
/// in their order. It passes over answers that came and went between two calls of [#next()]. So a
/// slow reader costs nothing, and sees the newest answer.
///
/// One thread reads; any thread may close.
///
/// @param <T> the class of the objects
public interface LiveQuery<T> extends AutoCloseable {
  /// An answer, and its difference from the one before.
  ///
  /// @param objects the objects, in the order of the query
  /// @param entered those that the answer before did not have
  /// @param left those that only the answer before had
  record Answer<T>(List<T> objects, List<T> entered, List<T> left) {
    public Answer {
      objects = List.copyOf(objects);
      entered = List.copyOf(entered);
      left = List.copyOf(left);
    }
  }

  /// Waits for the next answer, without limit, and returns it.
  ///
  /// @throws Closed when this or the store was closed, also during the wait
  /// @throws DeadlineExceeded when a call in progress has held up the changes for too long; call
  ///   again
  /// @throws Unavailable when the store has failed, or a group is away; call again, which asks
  ///   again
  /// @throws StoaException as [Query#list] does; call again
  Answer<T> next() throws InterruptedException;

  /// Returns the next answer, or nothing when none comes within a time. Throws like [#next()].
  Optional<Answer<T>> next(Duration timeMax) throws InterruptedException;

  /// Passes each answer to a consumer, until the consumer returns false. Throws like [#next()].
  default void forEach(Predicate<? super Answer<T>> consumer) throws InterruptedException {
    while (consumer.test(next())) {
      // the next one
    }
  }

  /// Ends it. Idempotent.
  @Override
  void close();
}
