package stoa.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Predicate;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.spi.Engine;

/// Opens stores in this process as clients of a server of their own, so that the tests of stores in
/// the process run against remote ones. It stands before the other engines on the class path of
/// this module's tests.
public final class ServedEngine implements Engine {
  /// For [java.util.ServiceLoader].
  public ServedEngine() {}

  @Override
  public boolean opens(String scheme) {
    return new EmbeddedEngine().opens(scheme);
  }

  @Override
  public Stoa open(StoaConfig config) {
    Server server = serve(config, 0);
    try {
      Parts parts = Parts.open(config.withUrl("stoa://127.0.0.1:" + server.port()));
      parts.whenClosed(server::close);
      return parts.whole();
    } catch (RuntimeException | Error failed) {
      server.close();
      throw failed;
    }
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
