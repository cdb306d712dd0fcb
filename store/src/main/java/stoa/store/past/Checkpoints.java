package stoa.store.past;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.base.Key;
import stoa.log.Streams;
import stoa.store.divergence.AcceptedStates;
import stoa.store.divergence.Announcements;

/// Saves the checkpoints of keys. Thread-safe.
@SuppressWarnings("exports") // see the package
public final class Checkpoints {
  private static final Logger LOG = LoggerFactory.getLogger(Checkpoints.class);

  private final Streams streams;
  private final AcceptedStates accepted;
  private final Retention retention;

  // Null when the store has no replicas.
  private final @Nullable Announcements announcements;

  /// @param announcements null when the store has no replicas
  public Checkpoints(
      Streams streams,
      AcceptedStates accepted,
      Retention retention,
      @Nullable Announcements announcements) {
    this.streams = streams;
    this.accepted = accepted;
    this.retention = retention;
    this.announcements = announcements;
  }

  /// Saves a checkpoint.
  ///
  /// @throws stoa.Closed when this store follows another one and has ended in the meantime
  void keep(Key key, long generation, long address, byte[] state) {
    if (accepted.isFollowing()) {
      accepted.keepFollowing(key, address, state);
      return;
    }
    try {
      streams.checkpointAndRelease(key.stream(), address, state);
    } catch (RuntimeException failure) {
      // A checkpoint is derived data: without it, loading replays more. A lasting error shows at
      // the next put.
      LOG.warn("no checkpoint of {} at {}: {}", key, address, failure.getMessage());
      return;
    }
    if (announcements != null) announcements.checkpoint(key, generation, address, state);
    retention.checkpointed(key, address);
  }
}
