package stoa.bench.stacksync;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import stoa.bench.cluster.ClusterServers;
import stoa.stacksync.Design;
import stoa.stacksync.Services;
import stoa.stacksync.SyncService;

/// This engine: several servers that keep one store in as many groups.
record StoaClusterStackSync(ClusterServers servers, StackSyncScale.Shape shape)
    implements StackSyncContender {
  @Override
  public String name() {
    int replicas = shape.replicas();
    return "Stoa, %s, %d servers, %d %s"
        .formatted(
            shape.design(), shape.servers(), replicas, replicas == 1 ? "replica" : "replicas");
  }

  @Override
  public String durability() {
    return "kept";
  }

  @Override
  public Running start(Path folder) throws Exception {
    int count = shape.servers();
    var form = new ClusterServers.Shape(count, count, shape.replicas(), false);
    return new Several(servers.start(folder, form), shape.design());
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
