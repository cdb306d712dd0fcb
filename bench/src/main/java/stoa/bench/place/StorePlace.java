package stoa.bench.place;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.ServiceLoader;
import stoa.Stoa;
import stoa.bench.cluster.ClusterServers;
import stoa.bench.remote.RemoteContender.Persistence;
import stoa.bench.remote.StoaServer;
import stoa.programs.BackgroundProcess;

/// Where the store of a measurement is. The measurement is the same in all places.
public enum StorePlace {
  /// In the process of the callers.
  EMBEDDED("in one process"),
  /// At a server, over the loopback interface.
  SERVER("at a server"),
  /// At three servers that keep it together, over the loopback interface. It is always on disks.
  CLUSTER("at three servers");

  /// The number of servers of [#CLUSTER], of which each has the whole store.
  public static final int SERVERS = 3;

  private final String words;

  StorePlace(String words) {
    this.words = words;
  }

  /// An open store, with the processes that have it.
  public interface Opened extends AutoCloseable {
    /// Returns the store.
    Stoa stoa();

    /// Closes the store, and ends the processes that have it.
    @Override
    void close() throws IOException;
  }

  /// Returns the place of a name.
  ///
  /// @throws IllegalArgumentException when there is none
  public static StorePlace of(String name) {
    for (var place : values()) {
      if (place.name().equalsIgnoreCase(name)) return place;
    }
    throw new IllegalArgumentException(
        "there is no place %s; there are embedded, server and cluster"
            .formatted(name.toLowerCase(Locale.ROOT)));
  }

  /// Opens an empty store in memory; on a disk, if the place keeps none in memory.
  ///
  /// @param folder an empty folder, or none yet
  public Opened openInMemory(Path folder) throws Exception {
    return switch (this) {
      case EMBEDDED -> new Embedded(Stoa.open("memory:"));
      case SERVER -> served(folder, Persistence.NONE);
      case CLUSTER -> cluster(folder);
    };
  }

  /// Opens the store of a folder, which makes each change durable; it is empty if the folder is.
  ///
  /// @throws IllegalStateException when the place cannot open it again, see [#opensAgain]
  public Opened open(Path folder) throws Exception {
    return switch (this) {
      case EMBEDDED -> new Embedded(Stoa.open("file:" + folder));
      case SERVER -> served(folder, Persistence.SYNCED);
      case CLUSTER -> cluster(folder);
    };
  }

  /// Returns whether a folder can be opened again.
  public boolean opensAgain() {
    return this != CLUSTER;
  }

  private static Opened served(Path folder, Persistence persistence) throws Exception {
    BackgroundProcess server = StoaServer.serve(folder, persistence);
    try {
      return new Served(server, Stoa.open("stoa://" + StoaServer.address(server)));
    } catch (Exception e) {
      server.close();
      throw e;
    }
  }

  private static Opened cluster(Path folder) throws Exception {
    var servers =
        ServiceLoader.load(ClusterServers.class)
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("this command has no clusters"));
    return new Cluster(servers.start(folder, new ClusterServers.Shape(SERVERS, 1, SERVERS, false)));
  }

  private record Embedded(Stoa stoa) implements Opened {
    @Override
    public void close() {
      stoa.close();
    }
  }

  private record Served(BackgroundProcess server, Stoa stoa) implements Opened {
    @Override
    public void close() {
      try (server) {
        stoa.close();
      }
    }
  }

  private record Cluster(ClusterServers.Running servers) implements Opened {
    @Override
    public Stoa stoa() {
      return servers.stoa();
    }

    @Override
    public void close() throws IOException {
      servers.close();
    }
  }

  @Override
  public String toString() {
    return words;
  }
}
