package stoa.node;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Runs tasks one after the other, in the order of their arrival: quick ones on the thread that
/// brings them, unless earlier slow ones are unfinished. Thread-safe; one thread brings tasks at a
/// time.
final class Lane {
  private static final Logger LOG = LoggerFactory.getLogger(Lane.class);

  private final Executor slow;

  // Guarded by this.
  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>(0);
  private boolean busy;

  /// Creates a lane.
  ///
  /// @param slow runs slow tasks
  Lane(Executor slow) {
    this.slow = slow;
  }

  /// Brings a task that waits for nothing.
  void quick(Runnable task) {
    synchronized (this) {
      if (busy) {
        waiting.add(task);
        return;
      }
    }
    task.run();
  }

  /// Brings a task that may take long.
  void slow(Runnable task) {
    synchronized (this) {
      waiting.add(task);
      if (busy) return;
      busy = true;
    }
    slow.execute(this::drain);
  }

  /// Continues a task of the lane, before all waiting ones. May take long; for tasks of the lane
  /// only.
  void goOn(Runnable rest) {
    synchronized (this) {
      waiting.addFirst(rest);
      if (busy) return;
      busy = true;
    }
    slow.execute(this::drain);
  }

  private void drain() {
    for (Runnable task; (task = next()) != null; ) {
      try {
        task.run();
      } catch (RuntimeException | Error failure) {
        // Later tasks must not wait forever.
        LOG.error("a task of a session failed", failure);
      }
    }
  }

  private synchronized @Nullable Runnable next() {
    Runnable task = waiting.poll();
    if (task == null) busy = false;
    return task;
  }
}
