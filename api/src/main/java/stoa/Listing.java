package stoa;

import java.util.stream.Stream;

/// The objects of one type as of one moment, in the order in which they were created.
///
/// Of a store that several groups of servers keep, objects of [Order#STREAM] come group by group,
/// each group's as of one moment.
///
/// Use it in a try-with-resources statement and from one thread. It can be iterated once.
///
/// @param <T> the type of the objects
public interface Listing<T> extends Iterable<T>, AutoCloseable {
  /// The elements as a stream, to be consumed before this is closed.
  Stream<T> stream();

  @Override
  void close();
}
