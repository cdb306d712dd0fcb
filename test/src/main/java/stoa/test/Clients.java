package stoa.test;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.StoaConfig;

/// The clients that a test has of a server or a cluster. Thread-safe.
final class Clients implements AutoCloseable {
  private final StoaConfig config;
  private final Supplier<String> url;
  private final List<Stoa> opened = new ArrayList<>(); // guarded by this
  private @Nullable Stoa shared; // guarded by this

  Clients(StoaConfig config, Supplier<String> url) {
    this.config = config;
    this.url = url;
  }

  /// Returns the client that all callers share.
  synchronized Stoa shared() {
    Stoa known = shared;
    if (known == null) {
      known = open();
      shared = known;
    }
    return known;
  }

  /// Opens one.
  synchronized Stoa open() {
    Stoa client = Stoa.open(config.withUrl(url.get()));
    opened.add(client);
    return client;
  }

  @Override
  public void close() {
    List<Stoa> all;
    synchronized (this) {
      all = List.copyOf(opened);
      opened.clear();
      shared = null;
    }
    Closing.all(all);
  }
}
