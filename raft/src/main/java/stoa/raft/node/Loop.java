package stoa.raft.node;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A thread that runs the tasks of one core, one after the other. Any thread may post; the loop's
/// own thread schedules.
final class Loop implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Loop.class);
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /// A task at a time.
  private record Timed(long atNanos, long number, Runnable task) {}

  private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final PriorityQueue<Timed> timed =
      new PriorityQueue<>(
          Comparator.<Timed>comparingLong(timed -> timed.atNanos).thenComparingLong(Timed::number));
  private final Thread thread;
  private long number;
  private volatile boolean idle;
  private volatile boolean ended;

  Loop(String name) {
    thread = Thread.ofPlatform().name(name).daemon().start(this::run);
  }

  /// Runs a task soon. Returns false when the task does not run, because the loop has ended.
  boolean post(Runnable task) {
    if (ended) return false;
    tasks.add(task);
    if (idle) LockSupport.unpark(thread);
    // A task that the loop has taken before its end runs, or has run.
    return !ended || !tasks.remove(task);
  }

  /// Runs a task after a while; called on the loop's thread.
  void schedule(Runnable task, long delayNanos) {
    timed.add(new Timed(System.nanoTime() + delayNanos, number++, task));
  }

  private void run() {
    while (!ended) {
      for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) run(task);
      long now = System.nanoTime();
      while (!timed.isEmpty() && timed.peek().atNanos - now <= 0) run(timed.poll().task);
      if (!tasks.isEmpty()) continue;
      long wait = timed.isEmpty() ? IDLE_NANOS : timed.peek().atNanos - now;
      idle = true;
      if (tasks.isEmpty() && !ended && wait > 0) LockSupport.parkNanos(this, wait);
      idle = false;
    }
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) run(task);
  }

  private static void run(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException failure) {
      LOG.error("a task of a group has failed", failure);
    }
  }

  /// Ends it after the posted tasks.
  @Override
  public void close() {
    boolean interrupted = false;
    post(() -> ended = true);
    LockSupport.unpark(thread);
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) Thread.currentThread().interrupt();
  }
}
