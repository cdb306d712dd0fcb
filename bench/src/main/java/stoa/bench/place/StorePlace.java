package stoa.bench.place;

import java.nio.file.Path;
import java.util.Locale;
import java.util.ServiceLoader;
import stoa.bench.cluster.ClusterServers;
import stoa.bench.cluster.OpenStoa;
import stoa.bench.machine.ServerJava;
import stoa.bench.remote.RemoteContender.Persistence;

/// Where the store of a measurement is. The measurement is the same in all places.
public enum StorePlace {
  /// In the process of the callers.
  EMBEDDED("in one process"),
  /// At a server, over the loopback interface.
  SERVER("at a server"),
  /// At three servers that keep it together, over the loopback interface. It is always on disks.
  CLUSTER("at three servers");

  private final String words;

  StorePlace(String words) {
    this.words = words;
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
  public OpenStoa openInMemory(Path folder) throws Exception {
    return switch (this) {
      case EMBEDDED -> OpenStoa.embedded("memory:");
      // The whole log of a long phase has to fit into the third of the heap that it may take.
      case SERVER -> OpenStoa.served(folder, Persistence.NONE, ServerJava.LARGE_HEAP);
      case CLUSTER -> cluster(folder);
    };
  }

  /// Opens the store of a folder, which makes each change durable; it is empty if the folder is.
  ///
  /// @throws IllegalStateException when the place cannot open it again, see [#opensAgain]
  public OpenStoa open(Path folder) throws Exception {
    return switch (this) {
      case EMBEDDED -> OpenStoa.embedded("file:" + folder);
      case SERVER -> OpenStoa.served(folder, Persistence.SYNCED);
      case CLUSTER -> cluster(folder);
    };
  }

  /// Returns whether a folder can be opened again.
  public boolean opensAgain() {
    return this != CLUSTER;
  }

  private static OpenStoa cluster(Path folder) throws Exception {
    var servers =
        ServiceLoader.load(ClusterServers.class)
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("this command has no clusters"));
    return OpenStoa.replicated(servers, folder);
  }

  @Override
  public String toString() {
    return words;
  }
}
