package stoa.store.watching;

/// Receives the changes of a key that it watches.
@FunctionalInterface
public interface Watcher {
  /// Notes that a put or deletion of the key is committed.
  ///
  /// Runs on the thread that commits, or on the one that begins to watch, one call at a time. It
  /// must be short, wait for no other thread and not call the store: all commits wait for it. An
  /// exception from it fails the store.
  ///
  /// @param counter the log counter of the latest change; greater with every call
  void changed(long counter);
}
