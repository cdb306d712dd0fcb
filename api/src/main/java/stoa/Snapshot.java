package stoa;

import java.util.Optional;

/// All objects as they were at one log address (vCorfu, section 3.4: the log gives a consistent
/// snapshot of the whole system).
///
/// Taking one copies nothing, and costs nothing while nobody reads it. While it is held, what it
/// shows is not trimmed. One without a name is let go of when it is closed, or when neither it nor
/// a view that came of it can be reached any more. Thread-safe.
public interface Snapshot extends AutoCloseable {
  /// The log address that it shows.
  LogAddress address();

  /// Its name, when it was given one.
  Optional<String> name();

  /// The object as it was; one that was absent reads as absent. Only accessors, and methods that
  /// are [Transactional] and read only, may be called on the result. Shared objects that they
  /// answer are seen as they were, too.
  ///
  /// @param shared a proxy, or a view of the past, of an object of this store
  /// @throws UnsupportedOperationException for an object of [Order#STREAM], which has no place
  ///   among the others, and for a [Blob], which has snapshots of its own
  <T> T on(T shared);

  /// Lets go of it: what it shows may be trimmed, and then throws [TooOld]. One with a name stays,
  /// and is let go of by [Stoa#deleteSnapshot]. Closing it again does nothing.
  @Override
  void close();
}
