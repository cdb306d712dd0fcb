package stoa.http;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import stoa.Closed;
import stoa.node.access.Caller;

/// The store as clients of its own servers: one for each identity of the door's clients, so that
/// the servers decide on each request by the roles of its own client. Thread-safe.
///
/// There is room for a fixed number; one more takes the place of the one that was used longest ago.
final class StoreClients implements AutoCloseable {
  private static final int CLIENTS_MAX = 32;

  private final Function<Caller, StoreClient> opening;

  // By the name of the identity; the least recently used is first. Guarded by this.
  private final Map<String, StoreClient> clients = new LinkedHashMap<>(16, 0.75f, true);
  private boolean closed;

  /// Creates it.
  ///
  /// @param opening makes the client of an identity
  StoreClients(Function<Caller, StoreClient> opening) {
    this.opening = opening;
  }

  /// Returns the client of a request.
  StoreClient of(Asking asking) {
    return of(asking.caller());
  }

  /// Returns the client of an identity.
  synchronized StoreClient of(Caller caller) {
    if (closed) throw new Closed("the server stops");
    StoreClient known = clients.get(caller.name());
    if (known != null) return known;
    StoreClient made = opening.apply(caller);
    clients.put(caller.name(), made);
    if (clients.size() > CLIENTS_MAX) {
      var oldest = clients.entrySet().iterator();
      StoreClient last = oldest.next().getValue();
      oldest.remove();
      last.retire();
    }
    return made;
  }

  @Override
  public synchronized void close() {
    closed = true;
    clients.values().forEach(StoreClient::close);
    clients.clear();
  }
}
