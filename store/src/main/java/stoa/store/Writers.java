package stoa.store;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The thread that writes, and others in its place while it runs what should have been short.
/// Thread-safe.
final class Writers implements Executor, AutoCloseable {
  /*
   * The writer runs a lone quick request by itself, which saves two hand-overs between threads. Should that request not
   * return, a turn waits behind it: when one still waits at the next tick, another thread is made for it. Once no turn
   * waits and at most one thread is at work, the others go.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Writers.class);
  private static final int THREADS_MAX = 64;

  private final AtomicInteger names = new AtomicInteger();
  private final ThreadPoolExecutor pool =
      new ThreadPoolExecutor(
          1,
          1,
          1,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(),
          task -> {
            var thread =
                new Thread(
                    null, task, "stoa-writer-" + names.incrementAndGet(), Workers.STACK_BYTES);
            thread.setDaemon(true);
            return thread;
          });

  /// The turns that had been taken when a turn was seen to wait; -1 when none was.
  private long waitedAt = -1;

  @Override
  public void execute(Runnable turn) {
    try {
      pool.execute(turn);
    } catch (RejectedExecutionException closed) {
      LOG.debug("the store is closed; nothing more is written");
    }
  }

  /// Some time has passed.
  synchronized void tick() {
    long taken = pool.getCompletedTaskCount();
    if (pool.getQueue().isEmpty()) {
      waitedAt = -1;
      if (pool.getActiveCount() <= 1 && pool.getCorePoolSize() > 1) {
        pool.setCorePoolSize(1);
        pool.setMaximumPoolSize(1);
      }
    } else if (waitedAt == taken) {
      waitedAt = -1;
      int more = Math.min(THREADS_MAX, pool.getCorePoolSize() + 1);
      pool.setMaximumPoolSize(more);
      pool.setCorePoolSize(more);
    } else {
      waitedAt = taken;
    }
  }

  @Override
  public void close() {
    pool.shutdown();
  }
}
