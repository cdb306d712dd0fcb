package stoa.node;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.objects.ObjectService;
import stoa.store.threads.Gatherer;
import stoa.transport.Sockets;
import stoa.transport.Tls;

/// The threads that read clients' frames and write the answers. Thread-safe; its owner closes it.
final class Readers implements AutoCloseable {
  // A connection must find another thread when a user's method keeps one.
  private static final int THREADS_MIN = 2;

  private static final Logger LOG = LoggerFactory.getLogger(Readers.class);
  private static final long STACK_BYTES = 8 << 20;
  private static final long END_MILLIS = 1_000;

  /// One of the threads. When it has read everything available, it runs the brief requests among
  /// it.
  static final class Reader extends Thread implements Gatherer {
    private final Readers all;
    private @Nullable Executor loop;

    // The services whose requests it gathers; empty while it leads them, so that new requests are
    // led at once.
    private final List<ObjectService> gathering = new ArrayList<>();

    private Reader(Readers all, Runnable task, String name) {
      super(null, task, name, STACK_BYTES);
      this.all = all;
      setDaemon(true);
    }

    @Override
    public boolean isGathering() {
      return !gathering.isEmpty();
    }

    /// Leads the requests that it begins from now on when it has read everything. This thread alone
    /// may call it.
    void gather(ObjectService service) {
      if (gathering.contains(service)) return;
      Executor own = loop;
      if (own == null) {
        own = all.sockets.current();
        if (own == null) return;
        loop = own;
      }
      if (gathering.isEmpty()) own.execute(this::writeGathered);
      gathering.add(service);
    }

    private void writeGathered() {
      var gathered = List.copyOf(gathering);
      gathering.clear();
      for (ObjectService service : gathered) {
        try {
          service.writeGathered();
        } catch (RuntimeException failed) {
          // The store tells the waiting callers. The other groups write their calls all the same.
          LOG.debug("a store could not write what this thread gathered", failed);
        }
      }
    }
  }

  private final AtomicInteger numbers = new AtomicInteger();
  private final Sockets sockets;
  private final Probes probes;

  /// Creates the threads.
  ///
  /// @param tls encrypts the connections; null for none
  Readers(@Nullable Tls tls) {
    int threads = Math.max(THREADS_MIN, Runtime.getRuntime().availableProcessors());
    sockets =
        new Sockets(
            threads,
            task -> new Reader(this, task, "stoa-reader-" + numbers.incrementAndGet()),
            tls);
    probes = new Probes(sockets.threads());
  }

  /// Returns the sockets that they read.
  Sockets sockets() {
    return sockets;
  }

  /// Makes the current thread, if it is one of these, lead what it begins from now on.
  static void gather(ObjectService service) {
    if (Thread.currentThread() instanceof Reader reader) reader.gather(service);
  }

  /// Returns for how long none of them has done anything; to be called periodically.
  long silentNanos(long nowNanos) {
    return probes.silentNanos(nowNanos);
  }

  @Override
  public void close() {
    sockets.close();
    try {
      var _ = sockets.await(END_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
