package stoa.store;

import java.util.concurrent.Executor;
import stoa.store.threads.Threads;

/// Threads for which no time passes: no call lasts long, however busy the machine is, and nobody
/// looks at anything again.
record Untimed(Threads real) implements Threads {
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
  public Executor visitors() {
    return real.visitors();
  }

  @Override
  public void every(Runnable tick) {
    // Time stands still.
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
  public void lost(Thread thread) {
    real.lost(thread);
  }

  @Override
  public void back(Thread thread) {
    real.back(thread);
  }

  @Override
  public void close() {
    real.close();
  }
}
