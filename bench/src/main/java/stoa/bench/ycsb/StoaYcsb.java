package stoa.bench.ycsb;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;
import stoa.ShardedMap;
import stoa.bench.cluster.ClusterServers;
import stoa.bench.cluster.OpenStoa;
import stoa.bench.cluster.RecordWorkloads.Updates;
import stoa.bench.cluster.Records;
import stoa.bench.load.Parallel;
import stoa.bench.maps.MapRecords;
import stoa.bench.maps.OpenMap;
import stoa.bench.remote.RemoteContender.Persistence;

/// This engine: a [ShardedMap], a record a value.
///
/// @param name the name in tables
/// @param guarantee the guarantee of an answered change
/// @param copies how many servers have the records
/// @param children how many maps the map consists of
/// @param way starts the servers
record StoaYcsb(String name, String guarantee, int copies, int children, Way way)
    implements YcsbContender {
  private static final int GETS_AT_ONCE = 64;

  /// Starts servers.
  interface Way {
    /// Starts them, with their data in an empty folder.
    ///
    /// @param heap the options of Java of each server
    OpenStoa start(Path folder, List<String> heap) throws Exception;
  }

  /// Returns those of a run: three servers, if the class path has clusters, and one server.
  ///
  /// @param children how many maps the map consists of
  static List<YcsbContender> all(Forms forms, int children) {
    var all = new ArrayList<YcsbContender>();
    if (forms != Forms.ONE_SERVER) {
      ServiceLoader.load(ClusterServers.class)
          .findFirst()
          .ifPresent(servers ->
              all.add(
                  new StoaYcsb(
                      "Stoa, 3 servers",
                      "forced to the disks of 2 of 3 servers; a read asks one server;"
                          + " strictly serializable",
                      ClusterServers.SERVERS,
                      children,
                      (folder, _) -> OpenStoa.replicated(servers, folder))));
    }
    all.add(
        new StoaYcsb(
            "Stoa, 1 server",
            "forced to the disk of one server; strictly serializable",
            1,
            children,
            (folder, heap) -> OpenStoa.served(folder, Persistence.SYNCED, heap)));
    return all;
  }

  @Override
  public String scan() {
    return "a call for each of the following keys, which are known as they are numbers; %d at once"
        .formatted(GETS_AT_ONCE);
  }

  @Override
  public boolean isComparable() {
    return true;
  }

  @Override
  public Running start(Path folder, List<String> heap) throws Exception {
    var open = way.start(folder, heap);
    try {
      ShardedMap<String, byte[]> map =
          open.stoa().shardedMap("records", String.class, byte[].class, children);
      return new Opened(new MapRecords(new Children(map), Updates.WHOLE_RECORD), open);
    } catch (RuntimeException e) {
      open.close();
      throw e;
    }
  }

  private record Opened(Records all, OpenStoa open) implements Running {
    @Override
    public Records records(int caller) {
      return all;
    }

    @Override
    public Duration processorTime() {
      return open.processorTime().get();
    }

    @Override
    public void close() throws IOException {
      open.close();
    }
  }

  /// The map. A put reads nothing, as the paper's `fastPut`.
  private record Children(ShardedMap<String, byte[]> map) implements OpenMap {
    @Override
    public byte @Nullable [] get(String key) {
      return map.get(key);
    }

    @Override
    public List<byte[]> getAll(List<String> keys) throws Exception {
      List<byte[]> found = Collections.synchronizedList(new ArrayList<>());
      Parallel.run(
          Math.min(GETS_AT_ONCE, keys.size()),
          keys.size(),
          i -> {
            byte[] value = map.get(keys.get(i));
            if (value != null) found.add(value);
          });
      return found;
    }

    @Override
    public void put(String key, byte[] value) {
      map.fastPut(key, value);
    }

    @Override
    public void close() {} // its store is closed
  }
}
