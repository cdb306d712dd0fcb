package stoa.client;

import stoa.Stoa;
import stoa.StoaConfig;
import stoa.spi.Engine;

/// Opens stores in a server: `stoa://HOST:PORT`, or several addresses joined by commas.
public final class RemoteEngine implements Engine {
  /// Creates the engine for [java.util.ServiceLoader].
  public RemoteEngine() {}

  @Override
  public boolean opens(String scheme) {
    return scheme.equals("stoa");
  }

  @Override
  public Stoa open(StoaConfig config) {
    if (!config.accepted().isEmpty()) {
      throw new IllegalArgumentException(
          "a server accepts losses, such as \""
              + config.accepted().iterator().next()
              + "\", by ./stoa deploy --accept, and not from a client; leave out withAccepted");
    }
    return RemoteService.open(config).stoa();
  }
}
