package stoa.store;

import java.util.Objects;
import java.util.function.Supplier;
import stoa.Unavailable;
import stoa.base.Key;

/// Questions that a store asks of its keys for itself and for its readers. Thread-safe.
final class Questions {
  private final Engine engine;

  Questions(Engine engine) {
    this.engine = engine;
  }

  /// The generation of a key when it was last executed in this process, 0 when that is not known.
  long generationHint(Key key) {
    Resident resident = engine.residents().pin(key);
    try {
      return resident.generationHint();
    } finally {
      resident.unpin();
    }
  }

  /// The stream address at which a key's generation began, 0 when the key is absent.
  long generation(Key key) {
    return ask(new GenerationRequest(accepted(key), Pace.LONG, 0));
  }

  /// The stream address of the last put or deletion that was executed on a key, 0 when there was
  /// none.
  long position(Key key) {
    return ask(new PositionRequest(accepted(key), Pace.LONG, 0));
  }

  /// As [#position(Key)], for a reader whose time is over at a tick; 0 for none.
  long position(Key key, int lateTick) {
    var question = new PositionRequest(accepted(key), Pace.LONG, 0);
    if (lateTick != 0) {
      question.ticksMax = Math.max(1, lateTick - engine.runners().now());
      engine.deadlines().begun(question);
    }
    return ask(question);
  }

  /// As [#position(Key)], without waiting.
  PositionRequest positionAsync(Key key) {
    var question = new PositionRequest(accepted(key), Pace.LONG, 0);
    engine.leader().ask(question);
    return question;
  }

  private Resident accepted(Key key) {
    return engine.admission().accepted(() -> engine.residents().pin(key));
  }

  private long ask(QuestionRequest question) {
    engine.leader().ask(question);
    return engine.leader().await(question).number();
  }

  /// A copy of the state of a key now, whether the key is in quarantine or not.
  ///
  /// @param pin pins the key
  Checkpoint state(Supplier<Resident> pin) {
    var forked = new ForkRequest(engine.admission().accepted(pin), Pace.LONG, null);
    engine.leader().ask(forked);
    engine.leader().await(forked).check();
    Copy copy = Objects.requireNonNull(forked.copy);
    engine.observed().advance(forked.reach());
    return new Checkpoint(copy.position(), copy.generation(), forked.reach(), copy.checkpoint());
  }

  /// The position of a key that a caller knows.
  ///
  /// @param pin pins the key
  PositionRequest position(Supplier<Resident> pin) {
    var question = new PositionRequest(engine.admission().accepted(pin), Pace.LONG, 0);
    engine.leader().ask(question);
    return engine.leader().await(question);
  }

  /// The last address of a key's stream, with what is logged about that which was executed on it.
  long tail(Key key) {
    Resident resident = engine.residents().pin(key);
    try {
      awaitNotes(resident);
      engine.health().checkOpen();
      engine.health().confirm();
      return resident.tail();
    } finally {
      resident.unpin();
    }
  }

  private void awaitNotes(Resident resident) {
    while (resident.notesUnderWay() > 0) {
      if (!engine.leader().lead(null)) engine.threads().pause();
    }
  }

  /// Waits until the nested answers of what was executed on a key are in its stream.
  void barrier(Key key) {
    Resident resident = engine.residents().pin(key);
    try {
      barrier(resident);
    } finally {
      resident.unpin();
    }
  }

  /// As [#barrier(Key)], of a key that is pinned.
  void barrier(Resident resident) {
    awaitNotes(resident);
    if (resident.lacksAnswer()) {
      throw new Unavailable(
          "what "
              + resident.key
              + " was told by another object could not be logged, so its past cannot be read;"
              + " make room and read again");
    }
  }

  /// As [Moments#moment], for a reader that asks a key without having it find its place behind what
  /// is put: of a key that is ordered among several stores, what is under way may have a lower
  /// address than what was answered elsewhere.
  long now(Key key) {
    if (engine.spaces().isOrdered(key)) engine.moments().awaitBatch();
    return engine.moments().moment();
  }
}
