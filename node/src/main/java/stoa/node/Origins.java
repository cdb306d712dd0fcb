package stoa.node;

import java.util.HashMap;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import stoa.transport.Status;

/// How many sessions clients of each address and of each identity have, so that one address and one
/// identity leave some to the others. Thread-safe.
final class Origins {
  private final ServerConfig config;
  private final Supplier<Stream<Session>> open;
  private final IntSupplier identities;

  // How many sessions clients of each origin are opening. Guarded by this.
  private final Map<Origin, Integer> opening = new HashMap<>();

  /// Creates it.
  ///
  /// @param open the open sessions of all groups
  /// @param identities returns how many identities the server knows
  Origins(ServerConfig config, Supplier<Stream<Session>> open, IntSupplier identities) {
    this.config = config;
    this.identities = identities;
    this.open = open;
  }

  /// Records that a client opens a session, until [#opened].
  ///
  /// @throws stoa.transport.StatusException when there are too many
  synchronized void open(Origin origin) {
    int all = 0;
    int ofIdentity = 0;
    var ofAddress = new HashMap<String, Integer>();
    for (var count : counts().entrySet()) {
      all += count.getValue();
      if (count.getKey().identity().equals(origin.identity())) ofIdentity += count.getValue();
      ofAddress.merge(count.getKey().address(), count.getValue(), Integer::sum);
    }
    int own = ofAddress.getOrDefault(origin.address(), 0);
    if (all >= config.sessionsMax()) throw full(ofAddress, all);
    if (own >= config.sessionsOfAddressMax()) throw ofAddress(origin.address(), own);
    boolean shared = identities.getAsInt() > 1;
    if (shared && ofIdentity >= config.sessionsOfIdentityMax()) {
      throw ofIdentity(origin.identity(), ofIdentity);
    }
    opening.merge(origin, 1, Integer::sum);
  }

  private Map<Origin, Integer> counts() {
    var counts = new HashMap<>(opening);
    open.get().forEach(session -> counts.merge(session.origin(), 1, Integer::sum));
    return counts;
  }

  /// Records that the session is open, or could not be opened.
  synchronized void opened(Origin origin) {
    opening.computeIfPresent(origin, (_, count) -> count == 1 ? null : count - 1);
  }

  private RuntimeException full(Map<String, Integer> ofAddress, int all) {
    var most = ofAddress.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow();
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

  private RuntimeException ofIdentity(String identity, int own) {
    return refusal(
        "clients of the identity "
            + identity
            + " have "
            + own
            + " sessions, and one of several identities may have "
            + config.sessionsOfIdentityMax()
            + " (sessionsOfIdentityMax, half of sessionsMax)");
  }

  private RuntimeException refusal(String cause) {
    return Status.of(
            Status.Code.RESOURCE_EXHAUSTED,
            cause
                + "; close clients there that are not used, or wait: a session whose client is gone"
                + " ends after "
                + config.lease().toMillis()
                + " ms (lease)")
        .exception();
  }
}
