package stoa;

import java.util.stream.Stream;

/// The objects of one type as of one moment, in the order of their creation.
///
/// In a store in several groups, objects of [LogOrder#STREAM] come group by group, each group's as
/// of one moment.
///
/// Use it in a try-with-resources statement and from one thread. It can be iterated once.
///
/// @param <T> the type of the objects
public interface ObjectListing<T> extends Iterable<T>, AutoCloseable {
  /// Returns the elements as a stream; consume it before you close this.
  Stream<T> stream();

  @Override
  void close();
}
