package stoa.store.threads;

import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import stoa.base.Timing;

/// The threads of a store: who writes, who runs handlers, who watches the time.
///
/// A simulation gives its own, and runs everything on one thread in an order of its choice.
public interface Threads extends AutoCloseable {
  /// How often [#every] ticks, in milliseconds.
  int TICK_MILLIS = 50;

  /// How many handlers may wait for their nested calls at the same time without keeping a processor
  /// idle. What they wait for becomes durable together, so that a few more cost few more syncs.
  int WAITING_MAX = 32;

  /// How many calls of other stores may run, or wait for others, at the same time.
  int VISITORS_MAX = 1_024;

  /// How often [#pause(int)] only spins.
  int SPINS = 100;

  /// How long [#pause] takes, in nanoseconds.
  long PAUSE_NANOS = 20_000;

  /// Runs the writer's turns, one at a time.
  Executor writer();

  /// Runs handlers, side by side.
  Executor workers();

  /// Runs what is done with answers that nobody waits for, side by side.
  Executor answers();

  /// Runs what listeners of keys do with their events, and what asks the store for these; side by
  /// side, and never at once on the thread that asks for it to be run.
  default Executor listeners() {
    return answers();
  }

  /// Has the writer run a turn.
  default void write(Runnable turn) {
    writer().execute(turn);
  }

  /// Has a worker run something.
  default void work(Runnable task) {
    workers().execute(task);
  }

  /// Has something done with an answer.
  default void answer(Runnable task) {
    answers().execute(task);
  }

  /// Has a handler run for which another store waits.
  default void serve(Runnable task) {
    visitors().execute(task);
  }

  /// Runs something every [#TICK_MILLIS].
  void every(Runnable tick);

  /// Whether the current thread may run what takes long while it waits.
  boolean mayRunLong();

  /// Whether the current thread may lead a batch and run what is quick.
  boolean mayRunQuick();

  /// How long a worker that waits for a nested call leaves it to other threads to run that, before
  /// it runs it itself.
  long patienceNanos();

  /// Runs handlers for which other stores wait, each on a thread of its own, so that stores whose
  /// workers all wait for each other still answer. Refuses what is too much for it.
  default Executor visitors() {
    return workers();
  }

  /// Waits for at most [#patienceNanos], or until the thread is unparked.
  default void rest(Object blocker) {
    LockSupport.parkNanos(blocker, patienceNanos());
  }

  /// Waits for a time, for what another process may have done then.
  default void pause(long nanos) {
    LockSupport.parkNanos(nanos);
  }

  /// Waits a little for what another thread is about to do.
  default void pause() {
    LockSupport.parkNanos(PAUSE_NANOS);
  }

  /// Waits a little, the more often the longer.
  ///
  /// @param spin how often it has waited before
  default void pause(int spin) {
    if (spin < SPINS) Thread.onSpinWait();
    else pause();
  }

  /// Whether the current thread was interrupted, and is not any more.
  default boolean takeInterrupt() {
    return Thread.interrupted();
  }

  /// Gives the current thread back an interrupt that was taken.
  default void giveInterrupt() {
    Thread.currentThread().interrupt();
  }

  /// The time of the process that has the store.
  default Timing timing() {
    return Timing.real();
  }

  /// Whether the current thread gathers what it begins, and leads it soon.
  default boolean isGathering() {
    return Thread.currentThread() instanceof Gatherer gatherer && gatherer.isGathering();
  }

  /// The current thread, which was stuck in a handler that was taken back, has returned.
  default void back() {
    back(Thread.currentThread());
  }

  /// A thread is stuck in a handler that was taken back.
  void lost(Thread thread);

  /// A thread that was stuck has returned.
  void back(Thread thread);

  /// Lets go of the threads, after what they run now.
  @Override
  void close();

  /// Threads of this process: a writer, a worker for each processor, and [#WAITING_MAX] for
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
