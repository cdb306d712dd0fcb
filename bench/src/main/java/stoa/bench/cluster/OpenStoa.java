package stoa.bench.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import stoa.Stoa;
import stoa.bench.machine.ServerJava;
import stoa.bench.remote.RemoteContender.Persistence;
import stoa.bench.remote.StoaServer;

/// An open store, with the processes that have it.
///
/// @param stoa the store
/// @param processorTime tells how much processor time its servers have used so far
/// @param end closes the store and ends its servers
public record OpenStoa(Stoa stoa, Supplier<Duration> processorTime, End end)
    implements AutoCloseable {
  /// Ends a client and its servers.
  public interface End {
    /// Ends them.
    void close() throws IOException;
  }

  /// Opens a store in this process.
  public static OpenStoa embedded(String url) {
    var stoa = Stoa.open(url);
    return new OpenStoa(stoa, () -> Duration.ZERO, stoa::close);
  }

  /// Starts a server and a client.
  public static OpenStoa served(Path folder, Persistence persistence) throws Exception {
    return served(folder, persistence, ServerJava.HEAP);
  }

  /// Starts a server with a heap of another size, and a client.
  ///
  /// @param heap options of Java
  public static OpenStoa served(Path folder, Persistence persistence, List<String> heap)
      throws Exception {
    var server = StoaServer.serve(folder, persistence, heap);
    try {
      Stoa stoa = Stoa.open("stoa://" + StoaServer.address(server));
      return new OpenStoa(
          stoa,
          server::processorTime,
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

  /// Starts three servers, of which each has a replica of the one group, and a client.
  public static OpenStoa replicated(ClusterServers servers, Path folder) throws Exception {
    var running = servers.start(folder, ClusterServers.Shape.of(1, false));
    return new OpenStoa(
        running.stoa(),
        () -> Duration.ofNanos(running.running().stream().mapToLong(running::processorNanos).sum()),
        running::close);
  }

  @Override
  public void close() throws IOException {
    end.close();
  }
}
