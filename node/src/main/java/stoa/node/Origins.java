package stoa.node;

import io.grpc.Status;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// How many sessions each client address has, so that one address leaves some to the others.
/// Thread-safe.
final class Origins {
  private final ServerConfig config;
  private final Supplier<Stream<Session>> open;

  // How many sessions each address is opening. Guarded by this.
  private final Map<String, Integer> opening = new HashMap<>();

  /// Creates it.
  ///
  /// @param open the open sessions of all groups
  Origins(ServerConfig config, Supplier<Stream<Session>> open) {
    this.config = config;
    this.open = open;
  }

  /// Records that an address opens a session, until [#opened].
  ///
  /// @throws io.grpc.StatusRuntimeException when there are too many
  synchronized void open(String address) {
    var counts = new HashMap<>(opening);
    open.get().forEach(session -> counts.merge(session.origin(), 1, Integer::sum));
    int all = sum(counts.values());
    int own = counts.getOrDefault(address, 0);
    if (all >= config.sessionsMax()) throw full(counts, all);
    if (own >= config.sessionsOfAddressMax()) throw ofAddress(address, own);
    opening.merge(address, 1, Integer::sum);
  }

  /// Records that the session is open, or could not be opened.
  synchronized void opened(String address) {
    opening.computeIfPresent(address, (_, count) -> count == 1 ? null : count - 1);
  }

  private static int sum(Collection<Integer> counts) {
    return counts.stream().mapToInt(Integer::intValue).sum();
  }

  private RuntimeException full(Map<String, Integer> counts, int all) {
    var most = counts.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow();
    return refusal(
        "the server has "
            + all
            + " sessions of all clients, and sessionsMax is "
            + config.sessionsMax()
            + "; "
            + most.getValue()
            + " are of clients at "
            + (most.getKey().isEmpty() ? "addresses before the server's start" : most.getKey()));
  }

  private RuntimeException ofAddress(String address, int own) {
    return refusal(
        "clients at "
            + address
            + " have "
            + own
            + " sessions, and one address may have "
            + config.sessionsOfAddressMax()
            + " (sessionsOfAddressMax, half of sessionsMax)");
  }

  private RuntimeException refusal(String cause) {
    return Status.RESOURCE_EXHAUSTED
        .withDescription(
            cause
                + "; close clients there that are not used, or wait: a session whose client is gone"
                + " ends after "
                + config.lease().toMillis()
                + " ms (lease)")
        .asRuntimeException();
  }
}
