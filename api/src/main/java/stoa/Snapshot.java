package stoa;

import java.util.Optional;

/// All objects as they were at one log address (vCorfu, section 3.4: the log gives a consistent
/// snapshot of the whole system).
///
/// Taking a snapshot copies nothing, and costs nothing while no program reads it. The store does
/// not trim what an open snapshot shows. It releases an unnamed snapshot when the program closes
/// it, or when neither it nor a view that came of it is reachable. Thread-safe.
public interface Snapshot extends AutoCloseable {
  /// Returns the log address that it shows.
  LogAddress address();

  /// Returns its name, if it has one.
  Optional<String> name();

  /// Returns the object as it was; an absent one reads as absent. On the result, call accessors and
  /// read-only [Transactional] methods only. Shared objects in their answers appear as they were,
  /// too.
  ///
  /// @param shared a proxy, or a view of the past, of an object of this store
  /// @throws UnsupportedOperationException for an object of [LogOrder#STREAM], which has no place
  ///   in the common order, and for a [Blob], which has snapshots of its own
  <T> T on(T shared);

  /// Releases the snapshot: the store may trim what it shows, and reads then throw [TooOld]. A
  /// named snapshot stays until [Stoa#deleteSnapshot]. Closing it again has no effect.
  @Override
  void close();
}
