package stoa.store.threads;

/// Runs what a caller does not wait for; [Threads#answer] does.
@FunctionalInterface
public interface Tasks {
  /// Runs a task on a thread of its own, soon.
  ///
  /// @throws java.util.concurrent.RejectedExecutionException when the store is closed
  void answer(Runnable task);
}
