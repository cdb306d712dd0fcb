package stoa.test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import stoa.base.Timing;
import stoa.store.threads.Threads;

/// The threads of a store in this process, whose periodic work a clock does as well. Thread-safe.
final class ClockedThreads implements Threads {
  private final Threads real;
  private final List<Runnable> shared;
  private final List<Runnable> own = new ArrayList<>(); // guarded by itself

  /// Creates them.
  ///
  /// @param shared gets the periodic work, until these threads are closed
  ClockedThreads(Threads real, List<Runnable> shared) {
    this.real = real;
    this.shared = shared;
  }

  @Override
  public void every(Runnable tick) {
    // A tick runs on one thread at a time.
    var turn = new ReentrantLock();
    Runnable one =
        () -> {
          turn.lock();
          try {
            tick.run();
          } finally {
            turn.unlock();
          }
        };
    synchronized (own) {
      own.add(one);
    }
    shared.add(one);
    real.every(one);
  }

  @Override
  public void close() {
    synchronized (own) {
      shared.removeAll(own);
    }
    real.close();
  }

  @Override
  public Executor writer() {
    return real.writer();
  }

  @Override
  public Executor workers() {
    return real.workers();
  }

  @Override
  public Executor answers() {
    return real.answers();
  }

  @Override
  public Executor listeners() {
    return real.listeners();
  }

  @Override
  public Executor visitors() {
    return real.visitors();
  }

  @Override
  public boolean mayRunLong() {
    return real.mayRunLong();
  }

  @Override
  public boolean mayRunQuick() {
    return real.mayRunQuick();
  }

  @Override
  public long patienceNanos() {
    return real.patienceNanos();
  }

  @Override
  public Timing timing() {
    return real.timing();
  }

  @Override
  public void lost(Thread thread) {
    real.lost(thread);
  }

  @Override
  public void back(Thread thread) {
    real.back(thread);
  }
}
