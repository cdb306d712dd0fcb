package stoa.base;

import java.lang.ref.Cleaner;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// The time that passes in a process, and what waits for it or happens by itself. Thread-safe.
///
/// A simulation gives its own.
public interface Timing {
  /// One thread, which does one thing after the other. Thread-safe.
  interface Line extends Executor, AutoCloseable {
    /// Does something after a time, unless the line is closed by then.
    ///
    /// @throws java.util.concurrent.RejectedExecutionException when it is closed
    void after(long nanos, Runnable task);

    /// Does something again and again, after a pause each time, until the line is closed or the
    /// task throws something.
    ///
    /// @throws java.util.concurrent.RejectedExecutionException when it is closed
    void every(long pauseNanos, Runnable task);

    /// Takes nothing more, and does not begin what waits; what runs goes on.
    @Override
    void close();

    /// Waits until a line that is closed does nothing any more.
    ///
    /// @return false when it still does after that time
    boolean await(long nanos) throws InterruptedException;
  }

  /// A clock that never goes back, in nanoseconds from any moment.
  long nanoTime();

  /// Does something on a thread of its own.
  void start(Runnable task);

  /// A thread for what happens by itself.
  ///
  /// @param name what it is called
  Line line(String name);

  /// Waits for an answer.
  ///
  /// @throws TimeoutException when there is none in time
  /// @throws ExecutionException with what is told in its place
  <T extends @Nullable Object> T await(CompletableFuture<T> answer, long nanos)
      throws InterruptedException, ExecutionException, TimeoutException;

  /// Does something some time after nobody can reach an object any more.
  ///
  /// @param task does not reach it either
  void whenUnreachable(Object object, Runnable task);

  /// That of this process.
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
