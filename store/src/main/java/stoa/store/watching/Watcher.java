package stoa.store.watching;

/// Is told of the changes of a key that it watches.
@FunctionalInterface
public interface Watcher {
  /// A put or deletion of the key is committed.
  ///
  /// Runs on the thread that commits, or on the one that begins to watch, one call at a time. It
  /// must be short, wait for nothing and ask nothing of the store: all commits wait for it. What it
  /// throws fails the store.
  ///
  /// @param counter the log counter of the latest change; greater with every call
  void changed(long counter);
}
