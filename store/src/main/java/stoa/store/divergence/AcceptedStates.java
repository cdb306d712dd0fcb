package stoa.store.divergence;

import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.Streams;
import stoa.store.leading.Health;

/// The states of diverged keys that an operator accepted: each is the checkpoint at its address, at
/// every replica. Thread-safe.
public final class AcceptedStates {
  private final Streams streams;
  private final Health health;

  /// Up to which address what was told of a key is void, since a state there was accepted.
  private final ConcurrentHashMap<StreamId, Long> accepted = new ConcurrentHashMap<>();

  public AcceptedStates(Streams streams, Health health) {
    this.streams = streams;
    this.health = health;
  }

  /// Whether the store executes what another one leads.
  public boolean isFollowing() {
    return health.follows();
  }

  /// The state of a key at an address is accepted.
  void add(StreamId stream, long address) {
    accepted.put(stream, address);
  }

  /// Whether what is said of a key at an address is void, since a state there or behind it was
  /// accepted.
  boolean has(StreamId stream, long address) {
    Long known = accepted.get(stream);
    return known != null && address <= known;
  }

  /// Keeps a state that was accepted as the checkpoint at its address.
  synchronized void keep(StreamId stream, long address, byte[] state) {
    Streams.@Nullable At known = streams.lastCheckpoint(stream, address);
    boolean there =
        known != null && known.address() == address && Arrays.equals(known.data(), state);
    if (!there) streams.checkpoint(stream, address, state);
  }

  /// Keeps a checkpoint of a replica that follows. Not at the same time as [#keep]: what was
  /// accepted stays, whatever is executed meanwhile.
  ///
  /// @throws stoa.Closed when this has ended meanwhile
  public synchronized void keepFollowing(Key key, long address, byte[] state) {
    // Whoever leads from here next has this device to itself.
    health.whileOpen(() -> {
      if (has(key.stream(), address)) return;
      streams.checkpointAndRelease(key.stream(), address, state);
    });
  }
}
