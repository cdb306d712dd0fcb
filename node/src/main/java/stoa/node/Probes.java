package stoa.node;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/// Whether threads that all clients share still work: each gets an empty task periodically.
/// Thread-safe.
final class Probes {
  private static final class Probe {
    private final Executor thread;

    // Guarded by this.
    private boolean sent;
    private long sentNanos;

    private Probe(Executor thread) {
      this.thread = thread;
    }

    /// Returns for how long the thread has not taken a task.
    private long look(long nowNanos) {
      synchronized (this) {
        if (sent) return nowNanos - sentNanos;
        sent = true;
        sentNanos = nowNanos;
      }
      try {
        thread.execute(this::taken);
      } catch (RejectedExecutionException closing) {
        taken();
      }
      return 0;
    }

    private synchronized void taken() {
      sent = false;
    }
  }

  private final List<Probe> probes;

  /// Creates the probes.
  ///
  /// @param threads the threads, of which one is enough to serve
  Probes(List<? extends Executor> threads) {
    probes = threads.stream().map(Probe::new).toList();
  }

  /// Probes all; returns for how long none of them has done anything.
  long silentNanos(long nowNanos) {
    long least = Long.MAX_VALUE;
    for (Probe probe : probes) least = Math.min(least, probe.look(nowNanos));
    return least;
  }
}
