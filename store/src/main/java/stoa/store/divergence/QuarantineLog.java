package stoa.store.divergence;

import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.CallFailed;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.store.batches.BatchWriter;
import stoa.store.batches.KeyReads;
import stoa.store.calls.Checkpoint;
import stoa.store.records.Records;
import stoa.store.records.Refusal;
import stoa.store.replicas.Divergence;
import stoa.store.running.Request;
import stoa.store.running.Resident;
import stoa.store.running.Residents;
import stoa.store.running.Runners;
import stoa.store.threads.Tasks;

/// Logs which keys enter [Quarantine] and which leave it. Thread-safe.
public final class QuarantineLog {
  /// Beyond this number, keys that differ are reported and still take calls: the fault then affects
  /// all keys.
  static final int KEYS_MAX = 10_000;

  private static final Logger LOG = LoggerFactory.getLogger(QuarantineLog.class);

  private final Quarantine quarantine;
  private final AcceptedStates accepted;
  private final BatchWriter writer;
  private final Residents residents;
  private final KeyReads keyReads;
  private final Runners runners;
  private final Tasks tasks;

  // Held while this logs a divergence, and while an operator accepts a state, so that the log has
  // the acceptance last.
  private final ReentrantLock deciding = new ReentrantLock();

  /// The parts that the log of the quarantine uses.
  ///
  /// @param writer appends the entries
  /// @param residents the keys
  /// @param keyReads reads the accepted state
  /// @param runners forget how often a call has ended the process
  /// @param tasks log the divergences that are found here
  public record Parts(
      BatchWriter writer, Residents residents, KeyReads keyReads, Runners runners, Tasks tasks) {}

  public QuarantineLog(Quarantine quarantine, AcceptedStates accepted, Parts parts) {
    this.quarantine = quarantine;
    this.accepted = accepted;
    this.writer = parts.writer;
    this.residents = parts.residents;
    this.keyReads = parts.keyReads;
    this.runners = parts.runners;
    this.tasks = parts.tasks;
    quarantine.whenFound(this::logSoon);
  }

  /// Logs soon, for all replicas, that a key is in quarantine here.
  private void logSoon(Divergence evidence) {
    tasks.answer(() -> {
      deciding.lock();
      try {
        if (evidence.equals(quarantine.evidence(evidence.stream()))) log(evidence);
      } catch (RuntimeException later) {
        LOG.warn("{} is in quarantine here alone: {}", evidence.object(), later.getMessage());
      } finally {
        deciding.unlock();
      }
    });
  }

  private void log(Divergence evidence) {
    var out = new Encoder(512).u8(Quarantine.QUARANTINED).raw(evidence.toBytes());
    var _ = writer.append(Quarantine.KEY, out.toBytes());
  }

  /// Takes back a put that ends the process, so that every replica passes it.
  private void takeBack(Key key, Divergence evidence) {
    var why =
        new CallFailed("an operator accepted " + key + " without version " + evidence.first());
    var verdict = new Records.Verdict(evidence.first(), Refusal.of(why));
    Resident resident = residents.pin(key);
    try {
      Request note = writer.note(resident, Records.VERDICT, Records.verdict(verdict));
      writer.callWriterThread();
      writer.await(note).check();
    } finally {
      resident.unpin();
    }
    runners.forget(key);
  }

  /// Puts a key into quarantine, durably. Returns false when the generation is over, when an
  /// operator has accepted a later state, or when too many keys are in quarantine.
  public boolean put(Divergence evidence) {
    StreamId stream = evidence.stream();
    if (quarantine.generation(stream) != evidence.generation()) return false;
    if (quarantine.isAccepted(stream, evidence.to())) return false;
    if (quarantine.evidence(stream) != null) return true;
    if (quarantine.all().size() >= KEYS_MAX) {
      LOG.error("more than {} objects differ; not quarantined: {}", KEYS_MAX, evidence.object());
      return false;
    }
    // This comes before the entry: a state that is accepted later is the state after the last put
    // that the key took.
    if (!quarantine.add(evidence)) return true;
    boolean logged = false;
    try {
      log(evidence);
      logged = true;
    } finally {
      if (!logged) quarantine.remove(evidence);
    }
    LOG.error("{}", evidence.refusal().getMessage());
    return true;
  }

  /// Ends the quarantine of a key with the state of this replica; returns false when the key was
  /// not in quarantine.
  public boolean accept(Key key) {
    deciding.lock();
    try {
      return acceptNow(key);
    } finally {
      deciding.unlock();
    }
  }

  private boolean acceptNow(Key key) {
    Divergence evidence = quarantine.evidence(key.stream());
    if (evidence == null) return false;
    if (evidence.isFatal()) takeBack(key, evidence);
    Checkpoint now = keyReads.state(() -> residents.pinAccepted(key));
    byte[] state = now.state();
    if (state != null && now.generation() == evidence.generation()) {
      var out =
          new Encoder(state.length + 128)
              .u8(Quarantine.ACCEPTED)
              .text(key.space())
              .sized(key.name());
      out.varint(now.position()).raw(state);
      var _ = writer.append(Quarantine.KEY, out.toBytes());
      accepted.keep(key.stream(), now.position(), state);
      accepted.add(key.stream(), now.position());
      Resident resident = residents.pin(key);
      try {
        resident.markStale();
      } finally {
        resident.unpin();
      }
    }
    quarantine.remove(evidence);
    return true;
  }
}
