package stoa.peers;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.infinispan.client.hotrod.RemoteCache;
import org.infinispan.counter.api.SyncStrongCounter;
import org.jspecify.annotations.Nullable;
import stoa.bench.curves.CurveContender;
import stoa.bench.machine.ServerJava;
import stoa.bench.remote.RemoteContender.Persistence;
import stoa.peers.InfinispanServer.Tasks;

/// Infinispan under the curves: one Hot Rod server, or three of which two have each entry, and a
/// client.
///
/// Counters are its strong counters where nothing is stored. Their own storage does not force what
/// it writes, so durable counters are values that a task in the server computes. Queues are tasks,
/// too.
public abstract class InfinispanCurves implements CurveContender {
  private static final int SEVERAL = 3;

  private final Persistence persistence;
  private final int servers;

  private InfinispanCurves(Persistence persistence, int servers) {
    this.persistence = persistence;
    this.servers = servers;
  }

  /// One server with a file store and synced writes.
  public static final class Synced extends InfinispanCurves {
    /// The contender.
    public Synced() {
      super(Persistence.SYNCED, 1);
    }
  }

  /// One server that stores nothing.
  public static final class InMemory extends InfinispanCurves {
    /// The contender.
    public InMemory() {
      super(Persistence.NONE, 1);
    }
  }

  /// Three servers with file stores and synced writes.
  public static final class SyncedCluster extends InfinispanCurves {
    /// The contender.
    public SyncedCluster() {
      super(Persistence.SYNCED, SEVERAL);
    }
  }

  /// Three servers that store nothing.
  public static final class InMemoryCluster extends InfinispanCurves {
    /// The contender.
    public InMemoryCluster() {
      super(Persistence.NONE, SEVERAL);
    }
  }

  @Override
  public String name() {
    return "Infinispan, " + (servers == 1 ? "" : servers + " servers, ") + persistence;
  }

  @Override
  public Target start(Path folder) throws Exception {
    InfinispanClient client =
        servers == 1
            ? InfinispanClient.start(folder, persistence, ServerJava.HEAP, _ -> {})
            : InfinispanClient.start(folder, persistence, servers);
    try {
      return new Client(
          client,
          persistence == Persistence.SYNCED
              ? List.of()
              : InfinispanCluster.strong(client.manager()));
    } catch (RuntimeException e) {
      client.close();
      throw e;
    }
  }

  private static final class Client implements Target {
    private final InfinispanClient client;
    private final RemoteCache<byte[], byte[]> values;
    private final RemoteCache<byte[], byte[]> stored;
    // Empty where counters are stored.
    private final List<SyncStrongCounter> counters;

    Client(InfinispanClient client, List<SyncStrongCounter> counters) {
      this.client = client;
      this.counters = counters;
      values = client.bytes(InfinispanServer.VALUES);
      stored = client.bytes(InfinispanServer.COUNTERS);
    }

    /// Runs a task.
    ///
    /// @param key the client asks the owner of this key of the stored counters; null for any server
    private @Nullable Long task(String name, long argument, byte @Nullable [] key) {
      return stored.execute(name, Map.of(Tasks.ARGUMENT, Tasks.marshalled(argument)), key);
    }

    private static long of(int queue) {
      return (long) queue << Tasks.ELEMENT_BITS;
    }

    @Override
    public void put(int key, byte[] value) {
      values.put(InfinispanServer.bytes(key), value);
    }

    @Override
    public long increment(int counter) {
      return counters.isEmpty()
          ? requireNonNull(task(Tasks.INCREMENT, counter, InfinispanServer.bytes(counter)))
          : counters.get(counter).incrementAndGet();
    }

    @Override
    public long count(int counter) {
      if (!counters.isEmpty()) return counters.get(counter).getValue();
      byte[] value = stored.get(InfinispanServer.bytes(counter));
      return value == null ? 0 : InfinispanServer.number(value);
    }

    @Override
    public void enqueue(int queue, long element) {
      var _ = task(Tasks.ENQUEUE, of(queue) | element, null);
    }

    @Override
    public long dequeue(int queue) {
      Long element = task(Tasks.DEQUEUE, of(queue), null);
      if (element == null) throw new IllegalStateException("the queue is empty");
      return element - of(queue);
    }

    @Override
    public void close() {
      client.close();
    }
  }
}
