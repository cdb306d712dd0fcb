package stoa.peers;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.infinispan.client.hotrod.RemoteCache;
import org.infinispan.client.hotrod.RemoteCounterManagerFactory;
import org.infinispan.counter.api.SyncStrongCounter;
import org.jspecify.annotations.Nullable;
import stoa.bench.curves.CurveContender;
import stoa.bench.machine.ServerJava;
import stoa.bench.remote.RemoteContender.Persistence;

/// Infinispan under the curves: one Hot Rod server and a client, as in [InfinispanContender].
public abstract class InfinispanCurves implements CurveContender {
  private final Persistence persistence;

  private InfinispanCurves(Persistence persistence) {
    this.persistence = persistence;
  }

  /// A file store with synced writes.
  public static final class Synced extends InfinispanCurves {
    /// The contender.
    public Synced() {
      super(Persistence.SYNCED);
    }
  }

  /// Nothing stored.
  public static final class InMemory extends InfinispanCurves {
    /// The contender.
    public InMemory() {
      super(Persistence.NONE);
    }
  }

  @Override
  public String name() {
    return "Infinispan, " + persistence;
  }

  @Override
  public Target start(Path folder) throws Exception {
    return new Client(
        InfinispanClient.start(folder, persistence, ServerJava.HEAP, _ -> {}), persistence);
  }

  private static final class Client implements Target {
    private final InfinispanClient client;
    private final RemoteCache<byte[], byte[]> values;
    private final RemoteCache<byte[], byte[]> stored;
    private final RemoteCache<String, Long> tasks;
    // Empty where counters are stored.
    private final List<SyncStrongCounter> counters;

    Client(InfinispanClient client, Persistence persistence) {
      this.client = client;
      values = client.bytes(InfinispanServer.VALUES);
      stored = client.bytes(InfinispanServer.COUNTERS);
      tasks = client.manager().getCache(InfinispanServer.PUBLISHED);
      var manager = RemoteCounterManagerFactory.asCounterManager(client.manager());
      counters =
          persistence == Persistence.SYNCED
              ? List.of()
              : IntStream.range(0, OBJECTS_MAX)
                  .mapToObj(i -> InfinispanContender.counter(manager, i))
                  .toList();
    }

    private @Nullable Long task(String name, long argument) {
      return tasks.execute(name, Map.of(InfinispanServer.Tasks.ARGUMENT, argument));
    }

    private static long of(int queue) {
      return (long) queue << InfinispanServer.Tasks.ELEMENT_BITS;
    }

    @Override
    public void put(int key, byte[] value) {
      values.put(InfinispanServer.bytes(key), value);
    }

    @Override
    public long increment(int counter) {
      return counters.isEmpty()
          ? requireNonNull(task(InfinispanServer.Tasks.INCREMENT, counter))
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
      task(InfinispanServer.Tasks.ENQUEUE, of(queue) | element);
    }

    @Override
    public long dequeue(int queue) {
      Long element = task(InfinispanServer.Tasks.DEQUEUE, of(queue));
      if (element == null) throw new IllegalStateException("the queue is empty");
      return element - of(queue);
    }

    @Override
    public void close() {
      client.close();
    }
  }
}
