package stoa.store.threads;

import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import stoa.base.Timing;

/// The threads of a store: the writer, the workers that run handlers, and the watch.
///
/// A simulation provides its own threads, and runs all work on one thread in an order of its
/// choice.
public interface Threads extends AutoCloseable {
  /// How often [#every] ticks, in milliseconds.
  int TICK_MILLIS = 50;

  /// How many handlers may wait for their nested calls at the same time without keeping a processor
  /// idle. The nested calls become durable together, so a few more of them cost few more syncs.
  int WAITING_MAX = 32;

  /// How many calls of other stores may run, or wait for others, at the same time.
  int VISITORS_MAX = 1_024;

  /// How often [#pause(int)] only spins.
  int SPINS = 100;

  /// How long [#pause] takes, in nanoseconds.
  long PAUSE_NANOS = 20_000;

  /// Runs the writer's turns, one at a time.
  Executor writer();

  /// Runs handlers, in parallel.
  Executor workers();

  /// Runs code for answers for which no thread waits, in parallel.
  Executor answers();

  /// Runs the listeners of keys, and the code that asks the store for their events. It runs them in
  /// parallel, and never directly on the thread that submits them.
  default Executor listeners() {
    return answers();
  }

  /// Submits a turn to the writer.
  default void write(Runnable turn) {
    writer().execute(turn);
  }

  /// Submits a task to a worker.
  default void work(Runnable task) {
    workers().execute(task);
  }

  /// Submits code that handles an answer.
  default void answer(Runnable task) {
    answers().execute(task);
  }

  /// Submits a handler for which another store waits.
  default void serve(Runnable task) {
    visitors().execute(task);
  }

  /// Runs a task every [#TICK_MILLIS].
  void every(Runnable tick);

  /// Returns whether the current thread may run long tasks while it waits.
  boolean mayRunLong();

  /// Returns whether the current thread may write a batch and run quick tasks.
  boolean mayRunQuick();

  /// Returns how long a worker that waits for a nested call leaves that call to other threads
  /// before it runs the call itself.
  long patienceNanos();

  /// Runs handlers for which other stores wait, each on a thread of its own, so that stores whose
  /// workers all wait for each other still answer. Rejects tasks beyond its limit.
  default Executor visitors() {
    return workers();
  }

  /// Waits for at most [#patienceNanos], or until the thread is unparked.
  default void rest(Object blocker) {
    LockSupport.parkNanos(blocker, patienceNanos());
  }

  /// Waits for a time, in which another process may act.
  default void pause(long nanos) {
    LockSupport.parkNanos(nanos);
  }

  /// Waits a little for another thread that is about to act.
  default void pause() {
    LockSupport.parkNanos(PAUSE_NANOS);
  }

  /// Waits a little; the more often the thread has waited, the longer.
  ///
  /// @param spin how often it has waited before
  default void pause(int spin) {
    if (spin < SPINS) Thread.onSpinWait();
    else pause();
  }

  /// Clears the interrupt of the current thread; returns whether there was one.
  default boolean takeInterrupt() {
    return Thread.interrupted();
  }

  /// Interrupts the current thread again after [#takeInterrupt].
  default void giveInterrupt() {
    Thread.currentThread().interrupt();
  }

  /// Returns the time of the process that runs the store.
  default Timing timing() {
    return Timing.real();
  }

  /// Returns whether the current thread gathers requests, and writes them soon.
  default boolean isGathering() {
    return Thread.currentThread() instanceof Gatherer gatherer && gatherer.isGathering();
  }

  /// Notes that the current thread, which was stuck in a handler that was taken back, has returned.
  default void back() {
    back(Thread.currentThread());
  }

  /// Notes that a thread is stuck in a handler that was taken back.
  void lost(Thread thread);

  /// Notes that a thread that was stuck has returned.
  void back(Thread thread);

  /// Stops the threads after their present tasks.
  @Override
  void close();

  /// Creates threads of this process: a writer, a worker for each processor, and [#WAITING_MAX] for
  /// handlers that wait.
  static Threads real() {
    return new Threads() {
      private final java.util.concurrent.ExecutorService writer =
          Executors.newSingleThreadExecutor(task -> daemon(task, "stoa-writer"));
      private final Workers workers =
          new Workers(WAITING_MAX + Runtime.getRuntime().availableProcessors());
      private final java.util.concurrent.ExecutorService visitors = Workers.each(VISITORS_MAX);
      private final java.util.concurrent.ExecutorService answers =
          Executors.newVirtualThreadPerTaskExecutor();
      private final ScheduledExecutorService watchdog =
          Executors.newSingleThreadScheduledExecutor(task -> daemon(task, "stoa-watchdog"));

      private Thread daemon(Runnable task, String name) {
        var thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
      }

      @Override
      public Executor writer() {
        return writer;
      }

      @Override
      public Executor workers() {
        return workers;
      }

      @Override
      public Executor visitors() {
        return visitors;
      }

      @Override
      public Executor answers() {
        return answers;
      }

      @Override
      public void every(Runnable tick) {
        var _ =
            watchdog.scheduleWithFixedDelay(tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
      }

      @Override
      public boolean mayRunLong() {
        return Thread.currentThread() instanceof Workers.Worker;
      }

      @Override
      public boolean mayRunQuick() {
        return !Thread.currentThread().isVirtual();
      }

      @Override
      public long patienceNanos() {
        return 1_000_000;
      }

      @Override
      public void lost(Thread thread) {
        workers.lost(thread);
      }

      @Override
      public void back(Thread thread) {
        workers.back(thread);
      }

      @Override
      public void close() {
        watchdog.shutdownNow();
        writer.shutdown();
        answers.shutdown();
        workers.close();
        visitors.shutdownNow();
      }
    };
  }
}
