package stoa.sim.world;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import stoa.Unavailable;
import stoa.base.Check;
import stoa.base.StreamId;
import stoa.log.Batch;
import stoa.log.BatchLog;
import stoa.log.BatchOutcome;
import stoa.log.Entry;
import stoa.log.Sequencer;
import stoa.storage.disk.StorageException;

/// The leader's use of a log, without objects: it numbers batches, asks for one outcome at a time,
/// and starts anew after an unknown one.
///
/// One owner.
public final class SimulatedLeader {
  private final PoweredLog powered;
  private BatchLog log;
  private Sequencer sequencer;
  private long term;
  private long sequence;
  private long nowMicros;
  // The batch with the last token, until its use is known.
  private @Nullable Batch last;

  public SimulatedLeader(PoweredLog powered) {
    this.powered = powered;
    log = powered.leader();
    sequencer = begin();
  }

  private Sequencer begin() {
    while (true) {
      try {
        return opened();
      } catch (StorageException | Unavailable failed) {
        powered.restart();
      }
    }
  }

  private Sequencer opened() {
    log = powered.leader();
    sequence = 0;
    last = null;
    var tail = log.tail();
    nowMicros = tail.nowMicros();
    if (tail.epoch() == 0) log.seal(1);
    term = log.term();
    return new Sequencer(log.tail().epoch(), log.tail().counter());
  }

  public BatchLog log() {
    return log;
  }

  /// Continues at the present leader of the log.
  public void resume() {
    sequencer = begin();
  }

  /// Raises the log's epoch.
  public void seal(long epoch) {
    long before = log.tail().epoch();
    log.seal(epoch);
    if (log.tail().epoch() == before) return;
    term = log.term();
    sequence = 0;
    last = null;
    sequencer = new Sequencer(log.tail().epoch(), log.tail().counter());
  }

  /// Returns the next batch, with one entry for each payload.
  public Batch batch(List<Map.Entry<StreamId, String>> payloads) {
    List<Entry> entries = new ArrayList<>();
    Map<StreamId, Long> addresses = new LinkedHashMap<>();
    for (var payload : payloads) {
      long address =
          addresses.merge(
              payload.getKey(), log.streams().last(payload.getKey()) + 1, (a, _) -> a + 1);
      byte[] bytes = payload.getValue().getBytes(StandardCharsets.UTF_8);
      byte[] mark =
          address % 4 == 0 ? ("mark " + payload.getValue()).getBytes(StandardCharsets.UTF_8) : null;
      entries.add(
          new Entry(
              payload.getKey(), address, entries.size(), nowMicros + 10, (byte) 1, bytes, mark));
    }
    nowMicros += 10;
    var token = sequencer.grant(Math.max(1, entries.size()));
    var batch = new Batch(token, term, ++sequence, nowMicros, entries);
    last = batch;
    return batch;
  }

  public Batch batch(StreamId stream, String payload) {
    return batch(List.of(Map.entry(stream, payload)));
  }

  /// Proposes a batch and waits for its outcome; unknown when the log comes to rest without one.
  public BatchOutcome propose(Batch batch) {
    List<BatchOutcome> outcomes = new ArrayList<>();
    log.append(batch, outcomes::add);
    while (outcomes.isEmpty() && powered.step()) {
      // The log goes on by itself.
    }
    Check.that(outcomes.size() <= 1, "a proposer is told one outcome, not %s", outcomes);
    if (outcomes.isEmpty()) {
      return new BatchOutcome.Unknown(
          new IllegalStateException("the log came to rest without one"));
    }
    BatchOutcome outcome = outcomes.getFirst();
    if (outcome instanceof BatchOutcome.Committed) last = null;
    if (outcome instanceof BatchOutcome.Fenced || outcome instanceof BatchOutcome.Refused) {
      takeBack(batch);
    }
    return outcome;
  }

  /// Writes a batch, to be synced later.
  public BatchOutcome write(Batch batch) {
    BatchOutcome outcome = log.write(batch);
    if (outcome instanceof BatchOutcome.Committed) last = null;
    if (outcome instanceof BatchOutcome.Fenced || outcome instanceof BatchOutcome.Refused) {
      takeBack(batch);
    }
    return outcome;
  }

  private void takeBack(Batch batch) {
    if (batch.equals(last) && batch.token().first().epoch() == sequencer.epoch()) {
      sequencer.takeBack(batch.token());
    }
  }
}
