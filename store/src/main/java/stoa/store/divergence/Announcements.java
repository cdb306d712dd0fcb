package stoa.store.divergence;

import java.util.Iterator;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.Streams;
import stoa.store.batches.BatchLeader;
import stoa.store.replicas.Announced;
import stoa.store.running.Handler;
import stoa.store.running.Materialized;
import stoa.store.running.NoteRequest;
import stoa.store.running.Resident;
import stoa.store.running.Residents;
import stoa.store.running.Spaces;

/// Says in the log of a replicated store what states its leader has come to, in a stream of their
/// own, so that the other replicas make the same checkpoints and find out when they differ.
/// Thread-safe.
///
/// Every checkpoint is announced. Of keys that change too little for one, one is announced at each
/// turn, round and round. No call waits for an announcement: it rides with the next batch.
public final class Announcements {
  /*
   * An announcement is asked to be logged after the answers and verdicts of the puts that the state
   * reflects were, and so is behind them in the log: whoever has it can replay the key up to its
   * address. It is not logged when one of these answers could not be: then the state is made anew, of
   * another answer. One that is lost, to a crash or a full disk, is of no consequence: the next is
   * compared.
   */
  /// As many stay in the log at least, for replicas that lag or were away.
  public static final int KEPT = 65_536;

  private static final int TRIM_STEP = 4_096;

  /// A larger state that does not fork cheaply is announced with its checkpoints only.
  private static final int ENCODED_BYTES_MAX = 64 << 10;

  /// How many keys are looked at in one turn.
  private static final int STEPS = 256;

  private static final Logger LOG = LoggerFactory.getLogger(Announcements.class);

  private final BatchLeader leader;
  private final Residents residents;
  private final Spaces spaces;
  private final Streams streams;
  private final Executor executor;
  private final int kept;
  private final AtomicBoolean turning = new AtomicBoolean();

  // Guarded by turning.
  private Iterator<Resident> hand;

  /// @param executor runs the turns
  /// @param kept how many announcements stay in the log
  public Announcements(
      BatchLeader leader,
      Residents residents,
      Spaces spaces,
      Streams streams,
      Executor executor,
      int kept) {
    this.leader = leader;
    this.residents = residents;
    this.spaces = spaces;
    this.streams = streams;
    this.executor = executor;
    this.kept = kept;
    this.hand = residents.iterator();
  }

  /// A checkpoint was made.
  public void checkpoint(Key key, long generation, long address, byte[] state) {
    try {
      announce(key, generation, address, true, state, null);
    } catch (RuntimeException failure) {
      // The log has failed, say, which the next put tells.
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
      leader.announce(resident, announced.toBytes(), reflected);
    } finally {
      resident.unpin();
    }
  }

  /// A tick has passed: the next key has its turn.
  public void tick() {
    if (!turning.compareAndSet(false, true)) return;
    try {
      executor.execute(this::turn);
    } catch (RejectedExecutionException closed) {
      turning.set(false);
    }
  }

  /// Announces the next key, and releases what was announced long ago.
  public void turn() {
    try {
      if (!leader.mayLog()) return;
      announceNext();
      trim();
    } catch (RuntimeException failure) {
      // Of the class's own fork, or of a store that closes: the next turn is the next key's.
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

  /// What is to be announced of a key.
  ///
  /// @param state with a fork of the handler when that is cheap, and else with none
  /// @param bytes what it is encoded to, when there is no fork; null when that would take long
  /// @param reflected what must be in the log when it is announced
  @SuppressWarnings("ArrayRecordComponent") // a carrier, compared by nobody
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
