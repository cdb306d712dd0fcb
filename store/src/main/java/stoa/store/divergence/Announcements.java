package stoa.store.divergence;

import java.util.Iterator;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.Streams;
import stoa.store.batches.BatchWriter;
import stoa.store.replicas.Announced;
import stoa.store.running.Handler;
import stoa.store.running.Materialized;
import stoa.store.running.NoteRequest;
import stoa.store.running.Resident;
import stoa.store.running.Residents;
import stoa.store.running.SpaceRegistry;
import stoa.store.threads.Tasks;

/// Announces the states of a replicated store's leader, in a stream of their own. The other
/// replicas then make the same checkpoints and find differences. Thread-safe.
///
/// The leader announces every checkpoint. Of the keys that change too little for checkpoints, it
/// announces one at each turn, in rotation. No call waits for an announcement: the next batch
/// carries it.
public final class Announcements {
  /*
   * The leader requests to log an announcement after the answers and verdicts of the puts that the
   * state reflects, so it stands behind them in the log: a replica that has the announcement can
   * replay the key up to its address. The leader does not log the announcement when it could not
   * log one of these answers: the key then makes its state anew, with another answer. A crash or a
   * full disk may lose an announcement without consequence: the replicas compare the next one.
   */
  /// How many announcements stay in the log at least, for replicas that lag or were away.
  public static final int KEPT = 65_536;

  private static final int TRIM_STEP = 4_096;

  // The leader announces a larger state that does not fork cheaply only with its checkpoints.
  private static final int ENCODED_BYTES_MAX = 64 << 10;

  // How many keys one turn looks at.
  private static final int STEPS = 256;

  private static final Logger LOG = LoggerFactory.getLogger(Announcements.class);

  private final BatchWriter writer;
  private final Residents residents;
  private final SpaceRegistry spaces;
  private final Streams streams;
  private final Tasks tasks;
  private final int kept;
  private final AtomicBoolean turning = new AtomicBoolean();

  // Guarded by turning.
  private Iterator<Resident> hand;

  /// @param tasks run the turns
  /// @param kept how many announcements stay in the log
  public Announcements(
      BatchWriter writer,
      Residents residents,
      SpaceRegistry spaces,
      Streams streams,
      Tasks tasks,
      int kept) {
    this.writer = writer;
    this.residents = residents;
    this.spaces = spaces;
    this.streams = streams;
    this.tasks = tasks;
    this.kept = kept;
    this.hand = residents.iterator();
  }

  /// Announces a checkpoint that a key has made.
  public void checkpoint(Key key, long generation, long address, byte[] state) {
    try {
      announce(key, generation, address, true, state, null);
    } catch (RuntimeException failure) {
      // For instance, the log has failed; the next put reports that.
      LOG.debug("a checkpoint of {} is not announced: {}", key, failure.toString());
    }
  }

  private void announce(
      Key key,
      long generation,
      long address,
      boolean checkpoint,
      byte[] state,
      NoteRequest.@Nullable Reflected reflected) {
    long form = spaces.form(key);
    StreamId hash = StreamId.of(state);
    var announced =
        new Announced(key.space(), key.name(), address, generation, checkpoint, form, hash);
    Resident resident = residents.pin(Announced.KEY);
    try {
      writer.announce(resident, announced.toBytes(), reflected);
    } finally {
      resident.unpin();
    }
  }

  /// Notes a tick and begins the turn of the next key.
  public void tick() {
    if (!turning.compareAndSet(false, true)) return;
    try {
      tasks.answer(this::turn);
    } catch (RejectedExecutionException closed) {
      turning.set(false);
    }
  }

  /// Announces the next key, and releases old announcements.
  public void turn() {
    try {
      if (!writer.mayLog()) return;
      announceNext();
      trim();
    } catch (RuntimeException failure) {
      // The class's own fork failed, or the store closes: the next turn belongs to the next key.
      LOG.debug("nothing is announced: {}", failure.toString());
    } finally {
      turning.set(false);
    }
  }

  private void announceNext() {
    for (int step = 0; step < STEPS; step++) {
      if (!hand.hasNext()) {
        hand = residents.iterator();
        return;
      }
      Resident resident = hand.next();
      if (!resident.isUnannounced()) continue;
      Seen seen = resident.announce(state -> look(state, resident));
      if (seen == null) continue;
      byte[] encoded = seen.encoded();
      if (encoded == null) continue;
      Materialized.State state = seen.state;
      announce(resident.key, state.generation(), state.position(), false, encoded, seen.reflected);
      return;
    }
  }

  /// A state of a key to announce.
  ///
  /// @param state with a fork of the handler when that is cheap, and otherwise without a handler
  /// @param bytes the encoded state, when there is no fork; null when the encoding would take long
  /// @param reflected the nested answers that the log must have before the announcement
  @SuppressWarnings("ArrayRecordComponent") // a carrier; no code compares it
  private record Seen(
      Materialized.State state, byte @Nullable [] bytes, NoteRequest.Reflected reflected) {
    byte @Nullable [] encoded() {
      Handler fork = state.handler();
      return fork == null ? bytes : fork.checkpoint();
    }
  }

  private static Seen look(Materialized live, Resident resident) {
    var reflected = new NoteRequest.Reflected(resident, resident.answersLost());
    Materialized.State fork = live.cheapFork();
    if (fork != null) return new Seen(fork, null, reflected);
    Materialized.State state = live.state();
    Handler handler = state.handler();
    boolean large = handler == null || live.weight() > ENCODED_BYTES_MAX;
    return new Seen(state.withOwn(null), large ? null : live.encoded(), reflected);
  }

  private void trim() {
    StreamId stream = Announced.KEY.stream();
    long before = residents.tail(stream) - kept + 1;
    if (before - streams.oldest(stream) >= TRIM_STEP) streams.trim(stream, before);
  }
}
