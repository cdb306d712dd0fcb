package stoa.store.threads;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The platform threads that run handlers. When a handler does not return, another thread takes the
/// place of its thread, up to a limit. Thread-safe.
final class Workers implements Executor, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Workers.class);
  private static final int LOST_MAX = 64;

  // The size of a stack in address space; an unused part takes no memory. It exceeds that of
  // callers: a handler that ran on a caller's stack may have to run here.
  private static final long STACK_BYTES = 8 << 20;

  /// A thread of the store, on which code may wait.
  static final class Worker extends Thread {
    private boolean lost;

    Worker(Runnable task, String name) {
      super(null, task, name, STACK_BYTES);
      setDaemon(true);
    }
  }

  private final AtomicInteger names = new AtomicInteger();
  private final ThreadPoolExecutor pool;
  private int lost;

  Workers(int threads) {
    pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            1,
            TimeUnit.MINUTES,
            new LinkedBlockingQueue<>(),
            task -> new Worker(task, "stoa-worker-" + names.incrementAndGet()));
  }

  /// Returns an executor with such threads, one for each task in progress, which it creates on
  /// demand.
  ///
  /// @param most the maximal number of threads; it rejects further tasks
  static ExecutorService each(int most) {
    var names = new AtomicInteger();
    return new ThreadPoolExecutor(
        0,
        most,
        30,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        task -> new Worker(task, "stoa-visitor-" + names.incrementAndGet()));
  }

  @Override
  public void execute(Runnable task) {
    try {
      pool.execute(task);
    } catch (RejectedExecutionException closed) {
      LOG.debug("the store is closed; its log holds what was not executed");
    }
  }

  /// Starts a thread in place of one that is stuck in a handler.
  synchronized void lost(Thread thread) {
    if (!(thread instanceof Worker worker) || worker.lost) return;
    worker.lost = true;
    if (++lost > LOST_MAX) {
      LOG.error("{} calls do not return; no more threads are made for others", lost);
      return;
    }
    LOG.warn("a call does not return; its thread {} is replaced", worker.getName());
    resize(pool.getCorePoolSize() + 1);
  }

  /// Notes that a thread that was stuck has returned.
  synchronized void back(Thread thread) {
    if (!(thread instanceof Worker worker) || !worker.lost) return;
    worker.lost = false;
    if (--lost < LOST_MAX) resize(pool.getCorePoolSize() - 1);
  }

  private void resize(int threads) {
    if (threads > pool.getCorePoolSize()) {
      pool.setMaximumPoolSize(threads);
      pool.setCorePoolSize(threads);
    } else {
      pool.setCorePoolSize(threads);
      pool.setMaximumPoolSize(threads);
    }
  }

  @Override
  public void close() {
    pool.shutdownNow();
  }
}
