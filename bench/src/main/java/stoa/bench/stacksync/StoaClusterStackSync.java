package stoa.bench.stacksync;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import stoa.bench.cluster.ClusterServers;
import stoa.stacksync.Design;
import stoa.stacksync.Services;
import stoa.stacksync.SyncService;

/// This engine: several servers that keep one store in as many groups.
///
/// @param replicas how many servers execute the calls of a group
record StoaClusterStackSync(ClusterServers servers, Design design, int count, int replicas)
    implements StackSyncContender {
  @Override
  public String name() {
    return "Stoa, %s, %d servers, %d %s"
        .formatted(design, count, replicas, replicas == 1 ? "replica" : "replicas");
  }

  @Override
  public String durability() {
    return "kept";
  }

  @Override
  public Running start(Path folder) throws Exception {
    var shape = new ClusterServers.Shape(count, count, replicas, false);
    return new Several(servers.start(folder, shape), design);
  }

  private record Several(ClusterServers.Running servers, Design design) implements Running {
    @Override
    public SyncService service(int caller) {
      return Services.open(servers.stoa(), "caller " + caller, design);
    }

    @Override
    public Duration processorTime() {
      long nanos = 0;
      for (int server : servers.running()) nanos += servers.processorNanos(server);
      return Duration.ofNanos(nanos);
    }

    @Override
    public void close() throws IOException {
      servers.close();
    }
  }
}
