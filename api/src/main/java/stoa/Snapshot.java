package stoa;

import java.util.Optional;

/// All objects as they were at one log address (vCorfu, section 3.4: the log gives a consistent
/// snapshot of the whole system).
///
/// Taking one costs nothing and copies nothing; while it is held, what it shows is not trimmed.
/// Thread-safe.
public interface Snapshot extends AutoCloseable {
  /// The log address that it shows.
  LogAddress address();

  /// Its name, when it was given one.
  Optional<String> name();

  /// The object as it was. Only accessors may be called on the result.
  ///
  /// @throws TooOld when it was trimmed, after this was closed
  <T> T on(T shared);

  /// Lets go of it: what it shows may be trimmed. One with a name stays, and is let go of by
  /// [Stoa#deleteSnapshot].
  @Override
  void close();
}
