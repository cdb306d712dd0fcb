package stoa.base;

import java.lang.ref.Cleaner;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// The time in a process, with waiting and periodic tasks. Thread-safe.
///
/// A simulation has its own.
public interface Timing {
  /// One thread, which runs one task after the other. Thread-safe.
  interface Line extends Executor, AutoCloseable {
    /// Runs a task after a time, unless the line is closed by then.
    ///
    /// @throws java.util.concurrent.RejectedExecutionException when it is closed
    void after(long nanos, Runnable task);

    /// Runs a task repeatedly, after a pause each time, until the line is closed or the task throws
    /// an exception.
    ///
    /// @throws java.util.concurrent.RejectedExecutionException when it is closed
    void every(long pauseNanos, Runnable task);

    /// Accepts no more tasks, and drops the waiting ones; a running one continues.
    @Override
    void close();

    /// Waits until a closed line runs no task any more.
    ///
    /// @return false when one still runs after that time
    boolean await(long nanos) throws InterruptedException;
  }

  /// Returns the time of a clock that never goes back, in nanoseconds from an arbitrary origin.
  long nanoTime();

  /// Runs a task on a thread of its own.
  void start(Runnable task);

  /// Returns a thread for periodic tasks.
  ///
  /// @param name the name of the thread
  Line line(String name);

  /// Waits for an answer.
  ///
  /// @throws TimeoutException when there is none in time
  /// @throws ExecutionException with the exception in its place
  <T extends @Nullable Object> T await(CompletableFuture<T> answer, long nanos)
      throws InterruptedException, ExecutionException, TimeoutException;

  /// Runs a task some time after an object has become unreachable.
  ///
  /// @param task must not refer to the object
  void whenUnreachable(Object object, Runnable task);

  /// Returns the timing of this process.
  static Timing real() {
    return Real.ONE;
  }

  /// See [#real()].
  final class Real implements Timing {
    private static final Timing ONE = new Real();
    private static final Cleaner CLEANER = Cleaner.create();

    private Real() {}

    @Override
    public long nanoTime() {
      return System.nanoTime();
    }

    @Override
    public void start(Runnable task) {
      Thread.startVirtualThread(task);
    }

    @Override
    public Line line(String name) {
      var executor =
          new ScheduledThreadPoolExecutor(
              1,
              task -> {
                var thread = new Thread(task, name);
                thread.setDaemon(true);
                return thread;
              });
      executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
      return new Line() {
        @Override
        public void execute(Runnable task) {
          executor.execute(task);
        }

        @Override
        public void after(long nanos, Runnable task) {
          var _ = executor.schedule(task, nanos, TimeUnit.NANOSECONDS);
        }

        @Override
        public void every(long pauseNanos, Runnable task) {
          var _ =
              executor.scheduleWithFixedDelay(task, pauseNanos, pauseNanos, TimeUnit.NANOSECONDS);
        }

        @Override
        public void close() {
          executor.shutdown();
        }

        @Override
        public boolean await(long nanos) throws InterruptedException {
          return executor.awaitTermination(nanos, TimeUnit.NANOSECONDS);
        }
      };
    }

    @Override
    public <T extends @Nullable Object> T await(CompletableFuture<T> answer, long nanos)
        throws InterruptedException, ExecutionException, TimeoutException {
      return answer.get(nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void whenUnreachable(Object object, Runnable task) {
      var _ = CLEANER.register(object, task);
    }
  }
}
