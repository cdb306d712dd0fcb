package stoa.store.batches;

import java.util.Objects;
import java.util.function.Supplier;
import stoa.base.Key;
import stoa.store.calls.Checkpoint;
import stoa.store.calls.Pace;
import stoa.store.running.ForkRequest;
import stoa.store.running.GenerationRequest;
import stoa.store.running.PositionRequest;
import stoa.store.running.QuestionRequest;
import stoa.store.running.Resident;
import stoa.store.running.TimeLimits;
import stoa.store.running.WorkingCopy;
import stoa.store.watching.Observed;

/// Reads what a store itself and its readers need to know of a key: its state, its generation, and
/// how far it has executed. Thread-safe.
public final class KeyReads {
  private final BatchWriter writer;
  private final TimeLimits limits;
  private final Observed observed;

  public KeyReads(BatchWriter writer, TimeLimits limits, Observed observed) {
    this.writer = writer;
    this.limits = limits;
    this.observed = observed;
  }

  /// Returns the stream address at which a key's generation began, 0 when the key is absent.
  public long generation(Key key) {
    return ask(new GenerationRequest(accepted(key), Pace.LONG, 0));
  }

  /// Returns the stream address of the last put or deletion that the key has executed, 0 when there
  /// was none.
  public long position(Key key) {
    return ask(new PositionRequest(accepted(key), Pace.LONG, 0));
  }

  /// Returns the position for a reader whose time is over at a tick; 0 for no limit.
  public long position(Key key, int lateTick) {
    var question = new PositionRequest(accepted(key), Pace.LONG, 0);
    if (lateTick != 0) {
      question.ticksMax = limits.left(lateTick);
      limits.begun(question);
    }
    return ask(question);
  }

  /// Requests the position of a key without waiting.
  public PositionRequest positionAsync(Key key) {
    var question = new PositionRequest(accepted(key), Pace.LONG, 0);
    writer.ask(question);
    return question;
  }

  private Resident accepted(Key key) {
    return writer.accepted(key);
  }

  private long ask(QuestionRequest question) {
    writer.ask(question);
    return writer.await(question).number();
  }

  /// Returns a copy of the present state of a key, also while the key is in quarantine.
  ///
  /// @param pinAccepted pins the key for an accepted request
  public Checkpoint state(Supplier<Resident> pinAccepted) {
    var forked = new ForkRequest(pinAccepted.get(), Pace.LONG, null);
    writer.ask(forked);
    writer.await(forked).check();
    WorkingCopy copy = Objects.requireNonNull(forked.copy);
    observed.advance(forked.reach());
    return new Checkpoint(copy.position(), copy.generation(), forked.reach(), copy.checkpoint());
  }

  /// Requests the position of a key that the caller knows.
  ///
  /// @param pinAccepted pins the key for an accepted request
  public PositionRequest position(Supplier<Resident> pinAccepted) {
    var question = new PositionRequest(pinAccepted.get(), Pace.LONG, 0);
    writer.ask(question);
    return writer.await(question);
  }

  /// Returns the counter of [ReadMoments#moment] for a reader that asks a key directly, not behind
  /// its puts. If the key is ordered among several stores, this first waits for the batch in
  /// progress, which may have a lower address than an answer that another store has given.
  public long now(Key key) {
    return writer.momentAt(key);
  }
}
