package stoa.store.threads;

/// Runs work for which a caller does not wait, by [Threads#answer].
@FunctionalInterface
public interface Tasks {
  /// Runs a task on a thread of its own, soon.
  ///
  /// @throws java.util.concurrent.RejectedExecutionException when the store is closed
  void answer(Runnable task);
}
