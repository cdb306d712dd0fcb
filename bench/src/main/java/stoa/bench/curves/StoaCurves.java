package stoa.bench.curves;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.IntStream;
import stoa.KeyValueStore;
import stoa.Stoa;
import stoa.bench.cluster.ClusterServers;
import stoa.bench.cluster.OpenStoa;
import stoa.bench.load.Counter;
import stoa.bench.load.Fifo;
import stoa.bench.remote.RemoteContender;
import stoa.bench.remote.RemoteContender.Persistence;

/// This engine under the curves.
///
/// @param way starts its servers
record StoaCurves(String name, Way way) implements CurveContender {
  /// Starts servers and a client.
  interface Way {
    /// Starts them, see [CurveContender#start].
    Target start(Path folder) throws Exception;
  }

  /// One server on a disk, one in memory, and three on disks, of which two have each change before
  /// the answer.
  static final List<CurveContender> ALL =
      List.of(
          new StoaCurves("Stoa, durable", folder -> served(folder, Persistence.SYNCED)),
          new StoaCurves("Stoa, not durable", folder -> served(folder, Persistence.NONE)),
          new StoaCurves("Stoa, 3 servers, durable", StoaCurves::replicated));

  @Override
  public Target start(Path folder) throws Exception {
    return way.start(folder);
  }

  private static Target replicated(Path folder) throws Exception {
    var servers = ServiceLoader.load(ClusterServers.class).findFirst();
    if (servers.isEmpty()) {
      throw new RemoteContender.Missing("clusters are in the module trials");
    }
    return numbered(OpenStoa.replicated(servers.get(), folder));
  }

  private static Target served(Path folder, Persistence persistence) throws Exception {
    return numbered(OpenStoa.served(folder, persistence));
  }

  private static Target numbered(OpenStoa open) {
    return new Numbered(open.stoa(), open.end());
  }

  /// The keys, counters and queues of a store. Thread-safe.
  static final class Numbered implements Target {
    private final KeyValueStore store;
    private final List<String> keys;
    private final List<Counter> counters;
    private final List<Fifo> queues;
    private final OpenStoa.End end;

    /// Creates it.
    ///
    /// @param end closes the store
    Numbered(Stoa stoa, OpenStoa.End end) {
      this.end = end;
      store = stoa.store();
      keys = IntStream.range(0, OBJECTS_MAX).mapToObj(i -> "key " + i).toList();
      counters =
          IntStream.range(0, OBJECTS_MAX)
              .mapToObj(i -> stoa.get(Counter.class, "counter " + i))
              .toList();
      queues =
          IntStream.range(0, OBJECTS_MAX)
              .mapToObj(i -> stoa.get(Fifo.class, "queue " + i))
              .toList();
    }

    @Override
    public void put(int key, byte[] value) {
      store.put(keys.get(key), value);
    }

    @Override
    public long increment(int counter) {
      return counters.get(counter).add(1);
    }

    @Override
    public long count(int counter) {
      return counters.get(counter).value();
    }

    @Override
    public void enqueue(int queue, long element) {
      queues.get(queue).enqueue(element);
    }

    @Override
    public long dequeue(int queue) {
      Long element = queues.get(queue).dequeue();
      if (element == null) throw new IllegalStateException("the queue is empty");
      return element;
    }

    @Override
    public void close() throws IOException {
      end.close();
    }
  }
}
