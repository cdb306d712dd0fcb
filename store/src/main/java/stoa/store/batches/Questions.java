package stoa.store.batches;

import java.util.Objects;
import java.util.function.Supplier;
import stoa.base.Key;
import stoa.store.calls.Checkpoint;
import stoa.store.calls.Pace;
import stoa.store.running.Copy;
import stoa.store.running.ForkRequest;
import stoa.store.running.GenerationRequest;
import stoa.store.running.PositionRequest;
import stoa.store.running.QuestionRequest;
import stoa.store.running.Resident;
import stoa.store.running.TimeLimits;
import stoa.store.watching.Observed;

/// Questions that a store asks of its keys for itself and for its readers. Thread-safe.
public final class Questions {
  private final BatchLeader leader;
  private final TimeLimits limits;
  private final Observed observed;

  public Questions(BatchLeader leader, TimeLimits limits, Observed observed) {
    this.leader = leader;
    this.limits = limits;
    this.observed = observed;
  }

  /// The stream address at which a key's generation began, 0 when the key is absent.
  public long generation(Key key) {
    return ask(new GenerationRequest(accepted(key), Pace.LONG, 0));
  }

  /// The stream address of the last put or deletion that was executed on a key, 0 when there was
  /// none.
  public long position(Key key) {
    return ask(new PositionRequest(accepted(key), Pace.LONG, 0));
  }

  /// As [#position(Key)], for a reader whose time is over at a tick; 0 for none.
  public long position(Key key, int lateTick) {
    var question = new PositionRequest(accepted(key), Pace.LONG, 0);
    if (lateTick != 0) {
      question.ticksMax = limits.left(lateTick);
      limits.begun(question);
    }
    return ask(question);
  }

  /// As [#position(Key)], without waiting.
  public PositionRequest positionAsync(Key key) {
    var question = new PositionRequest(accepted(key), Pace.LONG, 0);
    leader.ask(question);
    return question;
  }

  private Resident accepted(Key key) {
    return leader.accepted(key);
  }

  private long ask(QuestionRequest question) {
    leader.ask(question);
    return leader.await(question).number();
  }

  /// A copy of the state of a key now, whether the key is in quarantine or not.
  ///
  /// @param pinAccepted pins the key for a request that is accepted
  public Checkpoint state(Supplier<Resident> pinAccepted) {
    var forked = new ForkRequest(pinAccepted.get(), Pace.LONG, null);
    leader.ask(forked);
    leader.await(forked).check();
    Copy copy = Objects.requireNonNull(forked.copy);
    observed.advance(forked.reach());
    return new Checkpoint(copy.position(), copy.generation(), forked.reach(), copy.checkpoint());
  }

  /// The position of a key that a caller knows.
  ///
  /// @param pinAccepted pins the key for a request that is accepted
  public PositionRequest position(Supplier<Resident> pinAccepted) {
    var question = new PositionRequest(pinAccepted.get(), Pace.LONG, 0);
    leader.ask(question);
    return leader.await(question);
  }

  /// As [Moments#moment], for a reader that asks a key without having it find its place behind what
  /// is put: of a key that is ordered among several stores, what is under way may have a lower
  /// address than what was answered elsewhere.
  public long now(Key key) {
    return leader.momentAt(key);
  }
}
