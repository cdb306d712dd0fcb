package stoa.storage.object;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/// Does reads for callers that do not wait, with a bounded number of tasks of an executor.
/// Thread-safe.
public final class ReadQueue {
  /*
   * Invariant: while a read waits, a task runs or is about to. A task that finds nothing first
   * gives up its place and then looks again; a caller first adds its read and then looks for a
   * place. So one of them sees the other.
   *
   * Tasks never wait for each other, and no caller waits: with too many waiting reads it does its
   * own, so a dependent action may read too.
   */
  private static final int WAITING_MAX = 1024;

  private final Executor executor;
  private final int tasksMax;
  private final ConcurrentLinkedQueue<Runnable> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waitingCount = new AtomicInteger();
  private final AtomicInteger tasks = new AtomicInteger();

  /// @param executor runs the tasks
  /// @param tasksMax the most tasks that are queued or running at a time
  public ReadQueue(Executor executor, int tasksMax) {
    this.executor = executor;
    this.tasksMax = tasksMax;
  }

  /// Begins a read. The future completes when it is done, with its exception when it threw one.
  CompletableFuture<Void> submit(Runnable read) {
    var done = new CompletableFuture<Void>();
    Runnable whole =
        () -> {
          try {
            read.run();
          } catch (RuntimeException | Error e) {
            done.completeExceptionally(e);
            return;
          }
          done.complete(null);
        };
    if (waitingCount.incrementAndGet() > WAITING_MAX) {
      waitingCount.decrementAndGet();
      whole.run();
      return done;
    }
    waiting.add(whole);
    if (takePlace()) start();
    return done;
  }

  private boolean takePlace() {
    for (int now = tasks.get(); now < tasksMax; now = tasks.get()) {
      if (tasks.compareAndSet(now, now + 1)) return true;
    }
    return false;
  }

  private void start() {
    try {
      executor.execute(this::work);
    } catch (RejectedExecutionException closed) {
      work();
    }
  }

  private void work() {
    while (true) {
      var read = waiting.poll();
      if (read != null) {
        waitingCount.decrementAndGet();
        read.run();
        continue;
      }
      tasks.decrementAndGet();
      if (waiting.isEmpty() || !takePlace()) return;
    }
  }
}
