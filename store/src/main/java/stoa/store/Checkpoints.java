package stoa.store;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.Streams;

/// Keeps the checkpoints of keys. Thread-safe.
final class Checkpoints {
  private static final Logger LOG = LoggerFactory.getLogger(Checkpoints.class);

  private final Engine engine;

  /// Null when the store has no replicas.
  private final @Nullable Announcements announcements;

  Checkpoints(Engine engine, @Nullable Announcements announcements) {
    this.engine = engine;
    this.announcements = announcements;
  }

  /// Keeps a checkpoint.
  ///
  /// @throws stoa.Closed when this follows, and has ended meanwhile
  void keep(Key key, long generation, long address, byte[] state) {
    if (engine.health().follows()) {
      keepFollowing(key, address, state);
      return;
    }
    try {
      engine.streams().checkpointAndRelease(key.stream(), address, state);
    } catch (RuntimeException failure) {
      // Derived data: loading replays more. What is wrong shows at the next put.
      LOG.warn("no checkpoint of {} at {}: {}", key, address, failure.getMessage());
      return;
    }
    if (announcements != null) announcements.checkpoint(key, generation, address, state);
    engine.retention().checkpointed(key, address);
  }

  /// Keeps a checkpoint of a replica that follows. Not at the same time as [#keepAccepted]: what
  /// was accepted stays, whatever is executed meanwhile.
  private synchronized void keepFollowing(Key key, long address, byte[] state) {
    // Whoever leads from here next has this device to itself.
    engine
        .health()
        .whileOpen(() -> {
          if (engine.quarantine().isAccepted(key.stream(), address)) return;
          engine.streams().checkpointAndRelease(key.stream(), address, state);
        });
  }

  /// Keeps a state that was accepted as the checkpoint at its address.
  synchronized void keepAccepted(StreamId stream, long address, byte[] state) {
    Streams streams = engine.streams();
    Streams.At known = streams.lastCheckpoint(stream, address);
    boolean there =
        known != null && known.address() == address && Arrays.equals(known.data(), state);
    if (!there) streams.checkpoint(stream, address, state);
  }
}
