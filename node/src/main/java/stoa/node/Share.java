package stoa.node;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/// What one session may have of threads that all sessions share: so many tasks of it at a time, the
/// others wait, and when one is done the next stands at the end of what all others wait for.
/// Thread-safe.
final class Share implements Executor {
  private final Executor all;
  private final int most;

  // Guarded by this.
  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>(0);
  private int running;

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
