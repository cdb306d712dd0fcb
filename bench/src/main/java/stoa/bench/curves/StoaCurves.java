package stoa.bench.curves;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.IntStream;
import stoa.KeyValueStore;
import stoa.Stoa;
import stoa.bench.cluster.ClusterServers;
import stoa.bench.load.Counter;
import stoa.bench.load.Fifo;
import stoa.bench.remote.RemoteContender;
import stoa.bench.remote.RemoteContender.Persistence;
import stoa.bench.remote.StoaServer;

/// This engine under the curves.
///
/// @param way starts its servers
record StoaCurves(String name, Way way) implements CurveContender {
  private static final int SERVERS = 3;

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
    var running = servers.get().start(folder, new ClusterServers.Shape(SERVERS, 1, SERVERS, false));
    return new Numbered(running.stoa(), running::close);
  }

  private static Target served(Path folder, Persistence persistence) throws Exception {
    var server = StoaServer.serve(folder, persistence);
    try {
      Stoa stoa = Stoa.open("stoa://" + StoaServer.address(server));
      return new Numbered(
          stoa,
          () -> {
            try (server) {
              stoa.close();
            }
          });
    } catch (Exception e) {
      server.close();
      throw e;
    }
  }

  /// The end of a target.
  interface End {
    /// Ends the servers and the client.
    void close() throws IOException;
  }

  /// The keys, counters and queues of a store. Thread-safe.
  static final class Numbered implements Target {
    private final KeyValueStore store;
    private final List<String> keys;
    private final List<Counter> counters;
    private final List<Fifo> queues;
    private final End end;

    /// Creates it.
    ///
    /// @param end closes the store
    Numbered(Stoa stoa, End end) {
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
