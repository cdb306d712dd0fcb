package stoa.trials;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import stoa.SharedBTree;
import stoa.Stoa;
import stoa.bench.cluster.ClusterContender;
import stoa.bench.cluster.ClusterServers;
import stoa.bench.cluster.Records;
import stoa.bench.csmr.Row;

/// This engine in the cluster benchmark, with one group. A record is a shared object; records with
/// an order are in a B-tree of shared objects.
public final class StoaCluster implements ClusterContender {
  static final String GUARANTEE =
      "forced to the disks of a majority of 3; strictly serializable; each call made once";

  /// Creates the contender for [java.util.ServiceLoader].
  public StoaCluster() {}

  @Override
  public String name() {
    return "Stoa";
  }

  @Override
  public String guarantee() {
    return GUARANTEE;
  }

  @Override
  public Running start(Path folder, int servers) throws Exception {
    return new Client(
        new StoaServers().start(folder, new ClusterServers.Shape(servers, 1, servers, false)));
  }

  private static final class Client implements Running {
    private final StoaServers.Servers servers;
    private final Records rows;
    private final Records tree;

    Client(StoaServers.Servers servers) {
      this.servers = servers;
      rows = new Rows(servers.stoa());
      tree = new Tree(servers.stoa().bTree("rows", String.class, Row.Fields.class));
    }

    @Override
    public Duration processorTime() {
      return servers.processorTime();
    }

    @Override
    public Map<String, Counters> counters() {
      return Map.of("Stoa", servers.counters());
    }

    @Override
    public Optional<Records> records() {
      return Optional.of(rows);
    }

    @Override
    public Optional<Records> orderedRecords() {
      return Optional.of(tree);
    }

    @Override
    public void close() throws IOException {
      servers.close();
    }
  }

  private record Rows(Stoa stoa) implements Records {
    private Row row(String key) {
      return stoa.get(Row.class, key);
    }

    @Override
    public void insert(String key, Map<String, byte[]> fields) {
      row(key).put(new TreeMap<>(fields));
    }

    @Override
    public Map<String, byte[]> read(String key) {
      return row(key).fields();
    }

    @Override
    public void update(String key, Map<String, byte[]> fields) {
      row(key).put(new TreeMap<>(fields));
    }

    @Override
    public int scan(String from, int most) {
      throw new UnsupportedOperationException("objects have no order; the tree has one");
    }
  }

  private record Tree(SharedBTree<String, Row.Fields> tree) implements Records {
    @Override
    public void insert(String key, Map<String, byte[]> fields) {
      tree.fastPut(key, new Row.Fields(new TreeMap<>(fields)));
    }

    @Override
    public Map<String, byte[]> read(String key) {
      Row.Fields found = tree.get(key);
      return found == null ? Map.of() : found.all();
    }

    @Override
    public void update(String key, Map<String, byte[]> fields) {
      tree.computeIfPresent(
          key,
          (_, before) -> {
            var all = new TreeMap<>(before.all());
            all.putAll(fields);
            return new Row.Fields(all);
          });
    }

    @Override
    public int scan(String from, int most) {
      var found = tree.ceilingEntries(from, most);
      for (var entry : found) {
        if (entry.getValue().all().isEmpty()) throw new IllegalStateException(entry + " is empty");
      }
      return found.size();
    }
  }
}
