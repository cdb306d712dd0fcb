package stoa.bench.cluster;

import java.io.IOException;
import java.nio.file.Path;
import stoa.Stoa;
import stoa.bench.remote.RemoteContender.Persistence;
import stoa.bench.remote.StoaServer;

/// A client of servers that are processes of their own.
///
/// @param stoa the client
/// @param end ends the client and the servers
public record OpenStoa(Stoa stoa, End end) implements AutoCloseable {
  private static final int SERVERS = 3;

  /// Ends a client and its servers.
  public interface End {
    /// Ends them.
    void close() throws IOException;
  }

  /// Starts a server and a client.
  public static OpenStoa served(Path folder, Persistence persistence) throws Exception {
    var server = StoaServer.serve(folder, persistence);
    try {
      Stoa stoa = Stoa.open("stoa://" + StoaServer.address(server));
      return new OpenStoa(
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

  /// Starts three servers, of which each has a replica of the one group, and a client.
  public static OpenStoa replicated(ClusterServers servers, Path folder) throws Exception {
    var running = servers.start(folder, new ClusterServers.Shape(SERVERS, 1, SERVERS, false));
    return new OpenStoa(running.stoa(), running::close);
  }

  @Override
  public void close() throws IOException {
    end.close();
  }
}
