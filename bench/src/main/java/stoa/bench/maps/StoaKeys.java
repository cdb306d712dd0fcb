package stoa.bench.maps;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;
import stoa.KeyValueStore;
import stoa.bench.cluster.ClusterServers;
import stoa.bench.cluster.OpenStoa;
import stoa.bench.machine.ServerJava;
import stoa.bench.remote.RemoteContender.Persistence;

/// The key-value store of this engine's servers, see [stoa.Stoa#store()].
///
/// @param name the name in tables
/// @param how how a change is durable
/// @param way starts the servers
record StoaKeys(String name, String how, Way way) implements MapContender {
  /// Starts servers and a client.
  interface Way {
    /// Starts them, with their data in an empty folder.
    OpenMap open(Path folder) throws Exception;
  }

  /// One server, and three if the class path has clusters.
  static List<MapContender> all() {
    var one =
        new StoaKeys(
            "Stoa",
            "one server forces a change to its disk before it answers, and has a heap of 4 GB",
            StoaKeys::served);
    return ServiceLoader.load(ClusterServers.class)
        .findFirst()
        .<List<MapContender>>map(servers ->
            List.of(
                one,
                new StoaKeys(
                    "Stoa, 3 servers",
                    "two of three servers have a change on their disks before the answer; each has a heap of"
                        + " 1 GB",
                    folder -> keys(OpenStoa.replicated(servers, folder)))))
        .orElse(List.of(one));
  }

  @Override
  public OpenMap open(Path folder) throws Exception {
    return way.open(folder);
  }

  private static OpenMap served(Path folder) throws Exception {
    return keys(OpenStoa.served(folder, Persistence.SYNCED, ServerJava.LARGE_HEAP));
  }

  private static OpenMap keys(OpenStoa open) {
    return new Keys(open.stoa().store(), open.end());
  }

  /// The keys of a store. Thread-safe.
  record Keys(KeyValueStore store, OpenStoa.End end) implements OpenMap {
    @Override
    public byte @Nullable [] get(String key) {
      return (byte @Nullable []) store.get(key);
    }

    @Override
    public void put(String key, byte[] value) {
      store.put(key, value);
    }

    @Override
    public void close() throws IOException {
      end.close();
    }
  }
}
