package stoa.trials;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import stoa.bench.cluster.ClusterContender;
import stoa.bench.cluster.ClusterServers;

/// This engine in the cluster benchmark, with three groups that have one order: it shows the cost
/// of a common order beside separate streams.
public final class StoaGroups implements ClusterContender {
  private static final int GROUPS = 3;

  /// Creates the contender for [java.util.ServiceLoader].
  public StoaGroups() {}

  @Override
  public String name() {
    return "Stoa, 3 groups";
  }

  @Override
  public String guarantee() {
    return StoaCluster.GUARANTEE;
  }

  @Override
  public Running start(Path folder, int servers) throws Exception {
    return new Client(
        new StoaServers().start(folder, new ClusterServers.Shape(servers, GROUPS, servers, false)));
  }

  private record Client(StoaServers.Servers servers) implements Running {
    @Override
    public Duration processorTime() {
      return servers.processorTime();
    }

    @Override
    public Map<String, Counters> counters() {
      var kinds = new LinkedHashMap<String, Counters>();
      kinds.put("Stoa, 3 groups, `STREAM`", servers.streams());
      kinds.put("Stoa, 3 groups, `GLOBAL`", servers.counters());
      return kinds;
    }

    @Override
    public void close() throws IOException {
      servers.close();
    }
  }
}
