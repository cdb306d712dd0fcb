package stoa.node;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/// The threads that all sessions of a server share, of every group. Thread-safe; its owner closes
/// it.
final class ServerThreads implements AutoCloseable {
  // Users' code runs on these threads: a call needs a large stack, and may keep a processor.
  private static final int CALLS_MAX = 32;

  private static final int TRANSACTIONS_MAX = 64;
  private static final int SENDERS = 2;
  private static final long STACK_BYTES = 8 << 20;

  private final ThreadPoolExecutor calls = pool("stoa-call", CALLS_MAX);
  private final ThreadPoolExecutor transactions = pool("stoa-transaction", TRANSACTIONS_MAX);
  private final ThreadPoolExecutor senders = pool("stoa-sender", SENDERS);
  private final ExecutorService background = Executors.newVirtualThreadPerTaskExecutor();

  private static ThreadPoolExecutor pool(String name, int threads) {
    var numbers = new AtomicInteger();
    var pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              var thread =
                  new Thread(null, task, name + "-" + numbers.incrementAndGet(), STACK_BYTES);
              thread.setDaemon(true);
              return thread;
            });
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /// Returns a session's share of the threads that run users' code: one session leaves some to the
  /// others.
  Executor callsOfSession() {
    return new Share(calls, CALLS_MAX / 2);
  }

  /// Returns a session's share of the threads that run transactions.
  Executor transactionsOfSession() {
    return new Share(transactions, TRANSACTIONS_MAX / 2);
  }

  /// Returns whether all threads that run users' code are busy.
  boolean areCallsFull() {
    return calls.getActiveCount() == CALLS_MAX;
  }

  /// Returns how many tasks the threads that run users' code have done.
  long callsDone() {
    return calls.getCompletedTaskCount();
  }

  /// Returns the threads that send what no other thread does.
  Executor senders() {
    return senders;
  }

  /// Returns the threads for tasks that wait for the disk, and run no users' code.
  Executor background() {
    return background;
  }

  @Override
  public void close() {
    background.shutdown();
    calls.shutdown();
    transactions.shutdown();
    senders.shutdown();
  }
}
