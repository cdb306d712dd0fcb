package stoa.store.divergence;

import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.Streams;
import stoa.store.leading.Health;

/// The states of diverged keys that an operator accepted. Each is the checkpoint at its address, on
/// every replica. Thread-safe.
public final class AcceptedStates {
  private final Streams streams;
  private final Health health;

  // The address of each key's last accepted state: reports about the key up to there are void.
  private final ConcurrentHashMap<StreamId, Long> accepted = new ConcurrentHashMap<>();

  public AcceptedStates(Streams streams, Health health) {
    this.streams = streams;
    this.health = health;
  }

  /// Returns whether this store executes the log of a leader elsewhere.
  public boolean isFollowing() {
    return health.follows();
  }

  /// Notes that an operator accepted the state of a key at an address.
  void add(StreamId stream, long address) {
    accepted.put(stream, address);
  }

  /// Returns whether a report about a key at an address is void, since an operator accepted a state
  /// there or behind it.
  boolean has(StreamId stream, long address) {
    Long known = accepted.get(stream);
    return known != null && address <= known;
  }

  /// Saves an accepted state as the checkpoint at its address.
  synchronized void keep(StreamId stream, long address, byte[] state) {
    Streams.@Nullable At known = streams.lastCheckpoint(stream, address);
    boolean there =
        known != null && known.address() == address && Arrays.equals(known.data(), state);
    if (!there) streams.checkpoint(stream, address, state);
  }

  /// Saves a checkpoint of a replica that follows. It excludes [#keep]: an accepted state stays,
  /// whatever the replica executes at the same time.
  ///
  /// @throws stoa.Closed when this store has ended in the meantime
  public synchronized void keepFollowing(Key key, long address, byte[] state) {
    // The next leader on this device must have it to itself.
    health.whileOpen(() -> {
      if (has(key.stream(), address)) return;
      streams.checkpointAndRelease(key.stream(), address, state);
    });
  }
}
