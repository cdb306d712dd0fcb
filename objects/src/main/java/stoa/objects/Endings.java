package stoa.objects;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.Closed;
import stoa.Expires;
import stoa.Gone;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Answer;
import stoa.base.Clock;
import stoa.base.Existence;
import stoa.front.CallNumbers;
import stoa.front.ObjectAnswer;
import stoa.front.SharedKeys;
import stoa.front.types.Keys;
import stoa.front.types.Lifetime;
import stoa.spi.TimerObjects;
import stoa.store.Store;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.running.StoreTransaction;
import stoa.store.running.Target;

/// Ends the objects and keys of a store whose calls this process takes, when no call has renewed
/// them. Thread-safe.
final class Endings implements TimerObjects.Ends {
  /*
   * The log has the decision: a deletion is a transaction that reads the object, so a change that
   * comes first aborts it. Whatever else happens here may happen again in the next leader, which
   * finds the end still due at its keeper: an object that is gone is over.
   *
   * An object leaves its indexes by a put of its own in front of the deletion, since a transaction
   * of one group cannot change indexes in others. When the deletion then fails, the object enters
   * them again: with its next call, or here.
   */
  private static final long OVER = Long.MAX_VALUE;
  private static final StoreTransaction.Bounds BOUNDS =
      new StoreTransaction.Bounds(StoreTransaction.Access.WRITES, 60_000_000, 1 << 20, 1L << 30);

  // When to look again at an object that cannot be asked.
  private static final long AGAIN_MICROS = 60_000_000;

  /// An object whose time is over.
  private record Over(TimerObjects.Ending ending, Target target) {
    Existence existence() {
      return new Existence.Generation(ending.generation());
    }
  }

  private final Store store;
  private final KeyValues keyValues;
  private final Catalog catalog;
  private final Clock clock;

  Endings(Store store, KeyValues keyValues, Catalog catalog, Clock clock) {
    this.store = store;
    this.keyValues = keyValues;
    this.catalog = catalog;
    this.clock = clock;
  }

  @Override
  public List<TimerObjects.Looked> look(List<TimerObjects.Ending> due) {
    var looked = new ArrayList<TimerObjects.Looked>();
    var over = new ArrayList<Over>();
    for (TimerObjects.Ending each : due) {
      try {
        if (each.type().equals(SharedKeys.SPACE)) {
          looked.add(looked(each, keyValues.end(each.key())));
          continue;
        }
        var object = new Over(each, target(each));
        long next = next(object, ask(object));
        if (next == 0) over.add(object);
        else looked.add(looked(each, next));
      } catch (Gone gone) {
        looked.add(looked(each, OVER));
      } catch (Unavailable | UnknownOutcome | Closed ofTheStore) {
        throw ofTheStore;
      } catch (StoaException unfit) {
        looked.add(
            new TimerObjects.Looked(
                each.id(), each.dueMicros(), clock.nowMicros() + AGAIN_MICROS, text(unfit)));
      }
    }
    end(over, looked);
    return looked;
  }

  private static TimerObjects.Looked looked(TimerObjects.Ending ending, long next) {
    return new TimerObjects.Looked(ending.id(), ending.dueMicros(), next, null);
  }

  private static String text(StoaException unfit) {
    String text = unfit.toString();
    return text.length() <= 500 ? text : text.substring(0, 500);
  }

  private Target target(TimerObjects.Ending ending) {
    ObjectType type = catalog.typeNamed(ending.type());
    return catalog.object(type, Keys.decode(ending.key(), type.code().loader())).at();
  }

  private ObjectHandler.Life ask(Over object) {
    var terms = Terms.expecting(object.existence()).at(Pace.SHORT);
    return life(store.get(object.target, new ObjectHandler.LifeQuestion(), terms).answer());
  }

  private static ObjectHandler.Life life(Answer answer) {
    if (answer instanceof ObjectAnswer.Shared(ObjectHandler.Life life, _)) return life;
    throw new IllegalStateException("a question for a lifetime is answered with " + answer);
  }

  /// Returns when to look at an object again; 0 when its time is over.
  private long next(Over object, ObjectHandler.Life life) {
    long next = nextOf(object, life);
    boolean mustLeave = next == 0 && life.hasIndexes() && !life.hasLeft();
    if (mustLeave) put(object, CallNumbers.leaving());
    else if (next != 0 && life.hasLeft()) put(object, CallNumbers.creation());
    return next;
  }

  private long nextOf(Over object, ObjectHandler.Life life) {
    Lifetime lifetime = life.lifetime();
    if (lifetime == null) return OVER;
    long now = clock.nowMicros();
    String type = object.ending.type();
    if (life.isLent() || catalog.typeNamed(type).shared().lifetime() == null) {
      return now + lifetime.micros();
    }
    if (lifetime.since() == Expires.Since.CREATION) return 0;
    long changed = store.changedMicros(object.target.key(), put -> !CallNumbers.isLeaving(put));
    long end = changed + lifetime.micros();
    return end <= now ? 0 : end;
  }

  private void put(Over object, byte[] put) {
    var terms = Terms.expecting(object.existence());
    byte[] answer = store.put(object.target, Put.of(put), terms).answer().encoded();
    try {
      var _ = ObjectAnswer.get(answer, catalog.marshaller());
    } catch (RuntimeException | Error passedOn) {
      throw passedOn;
    } catch (Throwable checked) {
      throw new IllegalStateException(checked);
    }
  }

  /// Deletes objects at one moment, or one by one when others change them meanwhile. One that has
  /// been changed stays due, so it is looked at again.
  private void end(List<Over> all, List<TimerObjects.Looked> looked) {
    if (all.isEmpty()) return;
    if (all.size() > 1) {
      List<TimerObjects.Looked> together = ended(all);
      if (together != null) {
        looked.addAll(together);
        return;
      }
    }
    for (Over each : all) {
      List<TimerObjects.Looked> alone = ended(List.of(each));
      if (alone != null) looked.addAll(alone);
    }
  }

  /// Deletes objects at one moment; returns null when another call was faster.
  private @Nullable List<TimerObjects.Looked> ended(List<Over> all) {
    var looked = new ArrayList<TimerObjects.Looked>();
    try (StoreTransaction transaction = store.begin(BOUNDS)) {
      for (Over each : all) {
        if (transaction.generation(each.target.key()) != each.ending.generation()) {
          looked.add(looked(each.ending, OVER));
          continue;
        }
        var question = new ObjectHandler.LifeQuestion();
        var answer = transaction.get(each.target, question, each.existence(), Pace.SHORT);
        ObjectHandler.Life life = life(answer);
        boolean mustLeave = life.hasIndexes() && !life.hasLeft();
        if (mustLeave || nextOf(each, life) != 0) continue; // it was changed meanwhile
        var _ = transaction.delete(each.target, each.existence());
        looked.add(looked(each.ending, OVER));
      }
      if (transaction.writes()) {
        var _ = transaction.commit();
      }
      return looked;
    } catch (Aborted | Gone faster) {
      return null;
    }
  }
}
