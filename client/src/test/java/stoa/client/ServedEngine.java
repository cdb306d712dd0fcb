package stoa.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.function.Predicate;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.spi.Engine;
import stoa.storage.disk.Disk;
import stoa.storage.disk.FileDisk;
import stoa.storage.disk.MemoryDisk;

/// Opens stores in this process as clients of a server of their own, so that the tests of stores in
/// the process run against remote ones. It stands before the other engines on the class path of
/// this module's tests.
///
/// With the system property `stoa.test.groups` the server keeps each store in so many groups.
public final class ServedEngine implements Engine {
  private static final int GROUPS = Integer.getInteger("stoa.test.groups", 1);

  /// For [java.util.ServiceLoader].
  public ServedEngine() {}

  @Override
  public boolean opens(String scheme) {
    return new EmbeddedEngine().opens(scheme);
  }

  @Override
  public Stoa open(StoaConfig config) {
    if (GROUPS > 1) return openGroups(config);
    Server server = serve(config, 0);
    try {
      RemoteService parts = RemoteService.open(config.withUrl("stoa://127.0.0.1:" + server.port()));
      parts.whenClosed(server::close);
      return parts.stoa();
    } catch (RuntimeException | Error failed) {
      server.close();
      throw failed;
    }
  }

  /// Each group has a disk of its own.
  private static Stoa openGroups(StoaConfig config) {
    var groups =
        new Groups(GROUPS, 1, (group, part) -> Groups.part(config, disk(config, group), part));
    try {
      RemoteService parts = RemoteService.open(config.withUrl(groups.url()));
      parts.whenClosed(groups::close);
      return parts.stoa();
    } catch (RuntimeException | Error failed) {
      groups.close();
      throw failed;
    }
  }

  private static Disk disk(StoaConfig config, int group) {
    if (!config.scheme().equals("file")) return new MemoryDisk(config.limits().memoryBytesMax());
    String directory = config.url().substring("file:".length()).replaceFirst("\\?.*", "");
    return new FileDisk(Path.of(directory, "group-" + group));
  }

  /// A server of a store.
  static Server serve(StoaConfig config, int port) {
    return serve(config, port, _ -> true);
  }

  /// As the other one.
  ///
  /// @param admissible which classes clients may use beside those that the server knows
  static Server serve(StoaConfig config, int port, Predicate<Class<?>> admissible) {
    Stoa store = new EmbeddedEngine().open(config);
    try {
      return Server.start(ServerConfig.of("127.0.0.1", port), ObjectService.of(store, admissible));
    } catch (IOException failed) {
      store.close();
      throw new UncheckedIOException(failed);
    }
  }
}
