package stoa.store.nesting;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Deadlock;
import stoa.LimitExceeded;
import stoa.Unavailable;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.Trace;
import stoa.store.batches.BatchWriter;
import stoa.store.calls.Neighbors;
import stoa.store.calls.Visit;
import stoa.store.leading.Health;
import stoa.store.records.KeyRefusals;
import stoa.store.records.Records;
import stoa.store.running.Execution;
import stoa.store.running.PutRequest;
import stoa.store.running.Request;
import stoa.store.running.Runs;
import stoa.store.running.StoreTransaction;
import stoa.store.threads.Threads;

/// Makes the calls of handlers here on keys of other stores with the same order. Thread-safe.
public final class CrossGroupCalls {
  /*
   * A run repeats a put until it gets an answer. A process that starts later and resumes the call
   * does the same. The store of the key finds the put by its origin, see IncomingCalls. The run
   * notes the answer in its own log and does not repeat the call after that.
   *
   * A run that waits here follows the calls that it waits for, from store to store. It does so at
   * times, and at once when its call waits there for a call of another store, since one call closes
   * a circle last. When the path leads back to the run, each call waits for the next for ever: a
   * run waits for one other call, and continues only when that has ended. The run then refuses the
   * call with the greatest identity among those that wait for their turn, so that every run that
   * finds the circle refuses the same call. There is such a call: calls that run and do not wait
   * for a turn form a path, and a path has a beginning.
   */
  private static final int TICKS_FIRST = 2;
  private static final int TICKS = 10;
  private static final int HOPS_MAX = 64;

  /*
   * The first pause before this looks again for a circle that it has found; each pause is twice as
   * long.
   */
  private static final long CIRCLE_NANOS = 1_000_000;
  private static final long CIRCLE_NANOS_MAX = 64_000_000;

  /* The bound on unfinished puts: each batch notes all of them. */
  private static final int UNFINISHED_MAX = 2_048;

  /* The first pause before this asks a silent store again; each pause is twice as long. */
  private static final long PAUSE_FIRST_NANOS = 10_000_000;
  private static final long PAUSE_NANOS_MAX = 200_000_000;
  private static final Logger LOG = LoggerFactory.getLogger(CrossGroupCalls.class);

  private final BatchWriter writer;
  private final Runs runs;
  private final IncomingCalls incomingCalls;
  private final Health health;
  private final Threads threads;
  private final Neighbors neighbors;
  private final AtomicLong questions = new AtomicLong();

  public CrossGroupCalls(
      BatchWriter writer,
      Runs runs,
      IncomingCalls incomingCalls,
      Health health,
      Threads threads,
      Neighbors neighbors) {
    this.writer = writer;
    this.runs = runs;
    this.incomingCalls = incomingCalls;
    this.health = health;
    this.threads = threads;
    this.neighbors = neighbors;
  }

  boolean has(Key key) {
    return neighbors.have(key);
  }

  /// Puts a value to a key for a run.
  Execution.Nested put(
      Execution caller, Key target, Object call, Existence existence, Records.Origin origin) {
    RuntimeException refusal = refusal(caller, target);
    if (refusal == null && caller.mode() == Execution.Mode.LIVE) refusal = tooMany(target);
    if (refusal != null) return caller.told(refusal);
    caller.gateReflected();
    long counter = caller.request instanceof PutRequest by ? by.counter : caller.counter;
    runs.unfinished.begins(caller.key(), caller.address(), counter);
    var id = new Visit.Id(origin.caller(), origin.call(), origin.number(), 0);
    return travel(caller, visit(caller, id, Visit.Kind.PUT, target, call, existence, counter));
  }

  /// Asks a key for a run. A run that answers for the past asks that key for the past.
  Execution.Nested get(Execution caller, Key target, Object query, Existence existence) {
    if (caller.resident != null) return getNow(caller, target, query, existence);
    caller.asked = true;
    if (caller.looking) throw new Execution.AsksThePast();
    StoreTransaction around = caller.transaction();
    boolean part = around != null && around.isOneQuestion();
    return ask(caller, part ? Visit.Kind.MOMENT : Visit.Kind.PAST, target, query, existence);
  }

  /// Asks a key for a run for its present state, also when the run answers for the past.
  Execution.Nested getNow(Execution caller, Key target, Object query, Existence existence) {
    return ask(caller, Visit.Kind.GET, target, query, existence);
  }

  private Execution.Nested ask(
      Execution caller, Visit.Kind kind, Key target, Object query, Existence existence) {
    RuntimeException refusal = refusal(caller, target);
    if (refusal != null) return caller.told(refusal);
    long number = questions.incrementAndGet();
    var id = new Visit.Id(caller.key().stream(), caller.address(), number, writer.term());
    long counter = kind == Visit.Kind.GET ? 0 : caller.counter;
    return travel(caller, visit(caller, id, kind, target, query, existence, counter));
  }

  private @Nullable RuntimeException refusal(Execution caller, Key target) {
    int depth = caller.path().size();
    if (depth > runs.waits.depthMax())
      return KeyRefusals.tooDeep(caller.key(), target, depth, runs.waits.depthMax());
    return caller.path().contains(target) ? caller.circle(target) : null;
  }

  private @Nullable RuntimeException tooMany(Key target) {
    if (runs.unfinished.size() < UNFINISHED_MAX) return null;
    return new LimitExceeded(
        "more than "
            + UNFINISHED_MAX
            + " calls of other objects have not ended, so "
            + target
            + " of another group is not called; wait until all groups answer");
  }

  private Visit visit(
      Execution caller,
      Visit.Id id,
      Visit.Kind kind,
      Key target,
      Object call,
      Existence existence,
      long counter) {
    return new Visit(
        id,
        kind,
        target,
        call,
        existence,
        counter,
        caller.path(),
        caller.stands() ? 0 : millisLeft(caller.request));
  }

  private int millisLeft(@Nullable Request by) {
    if (by == null || by.ticksMax == 0) return 0;
    int left = by.ticksMax - (runs.runners.now() - by.since);
    return Math.max(1, left) * Threads.TICK_MILLIS;
  }

  private Execution.Nested travel(Execution caller, Visit visit) {
    int began = runs.runners.now();
    caller.visit = visit;
    caller.restBegins();
    try {
      return answer(caller, visit);
    } finally {
      caller.restEnds();
      caller.visit = null;
      caller.hasWaited(runs.runners.now() - began);
    }
  }

  private Execution.Nested answer(Execution caller, Visit visit) {
    long heard = runs.clock.nowMicros();
    int ticks = Neighbors.UNTIL_IT_WAITS;
    long circle = CIRCLE_NANOS;
    long pause = PAUSE_FIRST_NANOS;
    while (true) {
      checkGoesOn(caller);
      try {
        Visit.Reply said = visit(caller.trace(), visit, ticks);
        heard = runs.clock.nowMicros();
        pause = PAUSE_FIRST_NANOS;
        byte[] answer = said.answer();
        if (answer != null) {
          caller.reach = Math.max(caller.reach, said.reach());
          return visit.isPut() ? Execution.Nested.found(answer) : Execution.Nested.toLog(answer);
        }
        if (!visit.isPast() && tryToChase(visit)) {
          threads.pause(circle);
          circle = Math.min(2 * circle, CIRCLE_NANOS_MAX);
        } else {
          ticks = ticks == Neighbors.UNTIL_IT_WAITS ? TICKS_FIRST : TICKS;
        }
      } catch (Neighbors.NotAsked refused) {
        return caller.told(refused.why());
      } catch (RuntimeException away) {
        // The other store may have made the put.
        if (runs.clock.nowMicros() - heard > runs.limits.callMicrosMax())
          throw caller.suspend(unavailable(away));
        threads.pause(pause);
        pause = Math.min(2 * pause, PAUSE_NANOS_MAX);
      }
    }
  }

  /// Asks the other store, within the trace of the calling method.
  private Visit.Reply visit(@Nullable Trace trace, Visit visit, int ticks) {
    return trace == null
        ? neighbors.visit(visit, ticks)
        : trace.run(() -> neighbors.visit(visit, ticks));
  }

  private void checkGoesOn(Execution caller) {
    caller.checkNotTakenBack();
    caller.makeWay();
    try {
      health.checkOpen();
      health.checkSound();
    } catch (RuntimeException over) {
      throw caller.suspend(over);
    }
    if (!writer.isIdle()) writer.callWriterThread();
  }

  private static Unavailable unavailable(RuntimeException away) {
    return new Unavailable("another group does not answer: " + away.getMessage(), away);
  }

  // ---- circles

  private record Turn(Key target, Visit.Id id) {}

  private boolean tryToChase(Visit visit) {
    try {
      return chase(visit);
    } catch (RuntimeException later) {
      LOG.debug("nobody knows whom the call of {} waits for: {}", visit.target(), later.toString());
      return false;
    }
  }

  /// Follows the circle in which a visit may wait, and refuses one call of it. Returns whether the
  /// visit waits in a circle.
  private boolean chase(Visit visit) {
    var keys = new ArrayList<Key>(List.of(visit.callers().getLast()));
    Turn at = new Turn(visit.target(), visit.id());
    Turn refused = null;
    long waits = 0;
    for (int hops = 0; hops < HOPS_MAX; hops++) {
      Visit.NextWait hop = follow(at);
      keys.addAll(hop.keys());
      if (hop.waits() != 0 && (refused == null || isGreater(at.id, refused.id))) {
        refused = at;
        waits = hop.waits();
      }
      Key target = hop.target();
      Visit.Id next = hop.next();
      if (next == null || target == null) return false;
      if (next.equals(visit.id())) {
        if (refused != null) refuse(refused, waits, KeyRefusals.deadlock(keys));
        return true;
      }
      at = new Turn(target, next);
    }
    return false;
  }

  private Visit.NextWait follow(Turn turn) {
    return neighbors.have(turn.target)
        ? neighbors.follow(turn.target, turn.id)
        : incomingCalls.follow(turn.id);
  }

  private void refuse(Turn turn, long waits, Deadlock why) {
    if (neighbors.have(turn.target)) neighbors.refuse(turn.target, turn.id, waits, why);
    else incomingCalls.refuse(turn.id, waits, why);
  }

  private static boolean isGreater(Visit.Id one, Visit.Id other) {
    int order = one.caller().toString().compareTo(other.caller().toString());
    if (order == 0) order = Long.compare(one.call(), other.call());
    if (order == 0) order = Long.compare(one.number(), other.number());
    if (order == 0) order = Long.compare(one.owner(), other.owner());
    return order > 0;
  }
}
