package stoa.node;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/// A session's share of threads that all sessions use: so many of its tasks at a time. The others
/// wait, and after each task the next one goes to the end of the common queue. Thread-safe.
final class Share implements Executor {
  private final Executor all;
  private final int most;

  // Guarded by this.
  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>(0);
  private int running;

  /// Creates a share.
  ///
  /// @param all runs the tasks
  /// @param most how many at a time
  Share(Executor all, int most) {
    this.all = all;
    this.most = most;
  }

  @Override
  public void execute(Runnable task) {
    synchronized (this) {
      if (running == most) {
        waiting.add(task);
        return;
      }
      running++;
    }
    begin(task);
  }

  private void begin(Runnable task) {
    all.execute(() -> {
      try {
        task.run();
      } finally {
        Runnable next = next();
        if (next != null) begin(next);
      }
    });
  }

  private synchronized @Nullable Runnable next() {
    Runnable next = waiting.poll();
    if (next == null) running--;
    return next;
  }
}
