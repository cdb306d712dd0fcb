package stoa.store;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.AlreadyExists;
import stoa.CallFailed;
import stoa.DeadlineExceeded;
import stoa.Deadlock;
import stoa.Diverged;
import stoa.Gone;
import stoa.LimitExceeded;
import stoa.Unavailable;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.StoredEntry;
import stoa.store.records.Records;
import stoa.store.records.Refusals;
import stoa.store.threads.Threads;

/// How handlers call other keys: nested calls, the circles they might close, and the answers of
/// those that an earlier process made. Thread-safe.
final class Nesting {
  private final Engine engine;
  private final Intake intake;
  private final Threads threads;
  private final int depthMax;

  /// Held while a run begins to wait for another, so that of two that would close a circle one sees
  /// the other.
  private final ReentrantLock waiting = new ReentrantLock();

  Nesting(Engine engine, Intake intake, Threads threads, int depthMax) {
    this.engine = engine;
    this.intake = intake;
    this.threads = threads;
    this.depthMax = depthMax;
  }

  /// Puts a value to another key for a run.
  Execution.Nested put(
      Execution caller,
      Key target,
      Put put,
      Existence existence,
      Execution.Beginning beginning,
      Records.Origin origin) {
    if (caller.waitsAbroad(target)) return told(caller, circle(caller, target));
    boolean resumed = caller.mode() == Execution.Mode.RESUMED;
    if (resumed) engine.unfinished().begins(caller.key(), caller.address(), caller.counter);
    long address = resumed ? addressInLog(caller, target, origin) : 0;
    Deadlock refused = awaitExecuted(caller, target, address);
    if (refused != null) return told(caller, refused);
    if (address > 0) {
      return new Execution.Nested(answerFromLog(target, address).encoded(), false);
    }
    byte[] unfit = beginning.unfit();
    if (unfit != null) return new Execution.Nested(unfit, true);
    byte[] unbegun = refusal(caller, target, existence, beginning);
    if (unbegun != null) return new Execution.Nested(unbegun, true);
    var terms = Terms.expecting(existence).at(pace(caller));
    var request = new PutRequest(pinned(target), put, terms, origin, caller.depth() + 1);
    request.asker = caller;
    hasten(caller, request);
    request.after = caller.unsettledNote();
    engine.unfinished().begins(caller.key(), caller.address(), intake.moments().moment());
    return nested(caller, request, () -> intake.add(request));
  }

  /// Why a put cannot begin a key that is absent; null when it can, or the key is there.
  private byte @Nullable [] refusal(
      Execution caller, Key target, Existence existence, Execution.Beginning beginning) {
    if (existence instanceof Existence.Generation) return null;
    if (engine.questions().generationHint(target) != 0) return null;
    byte[] refusal = beginning.refusal();
    return refusal != null && isAbsent(caller, target) ? refusal : null;
  }

  /// Asks whether a key is absent, after the puts that are on their way to it. Answers false when
  /// to wait for these would close a circle, which the put itself is told.
  private boolean isAbsent(Execution caller, Key target) {
    var asked = new GenerationRequest(pinned(target), pace(caller), caller.depth() + 1);
    asked.asker = caller;
    if (refusal(caller, asked) != null) {
      asked.complete(null);
      return false;
    }
    int began = engine.runners().now();
    engine.leader().ask(asked);
    awaitHelping(asked, caller);
    caller.hasWaited(engine.runners().now() - began);
    caller.waitingFor = null;
    try {
      asked.check();
    } catch (RuntimeException failure) {
      throw caller.suspend(failure);
    }
    return asked.number == 0;
  }

  /// Asks another key for a run.
  Execution.Nested get(Execution caller, Key target, Object query, Existence existence) {
    if (caller.resident == null) return past(caller, target, query, existence);
    if (caller.waitsAbroad(target)) return told(caller, circle(caller, target));
    Deadlock refused = awaitExecuted(caller, target, 0);
    if (refused != null) return told(caller, refused);
    var terms = Terms.expecting(existence).at(pace(caller));
    var request = new GetRequest(pinned(target), query, terms, caller.depth() + 1);
    request.asker = caller;
    hasten(caller, request);
    return nested(
        caller,
        request,
        () -> {
          if (!intake.refuses(request) && request.resident.enqueue(request)) {
            var _ = request.resident.runQuickUntil(request);
          }
        });
  }

  /// Asks another key for a run in the past: as it was at the same place of the log.
  private Execution.Nested past(Execution caller, Key target, Object query, Existence existence) {
    caller.asked = true;
    if (caller.looking) throw new Execution.Elsewhere();
    RuntimeException refusal = caller.refusalOfPast(target);
    if (refusal != null) return told(caller, refusal);
    try {
      Answer answer = engine.at(target, caller.counter).get(query, existence, caller);
      return new Execution.Nested(answer.encoded(), false);
    } catch (Gone gone) {
      return told(caller, gone);
    }
  }

  private Resident pinned(Key target) {
    Resident resident = engine.residents().pin(target);
    engine.admission().begun();
    return resident;
  }

  /// A nested call is as long as the call that makes it.
  private static Pace pace(Execution caller) {
    Request outer = caller.request;
    return outer == null ? Pace.LONG : outer.pace.awaited();
  }

  /// Gives a nested call no more time than the call has that makes it.
  private void hasten(Execution caller, Request request) {
    Request outer = caller.request;
    if (outer == null || outer.ticksMax == 0) return;
    request.hastenAs(outer);
    engine.deadlines().begun(request);
  }

  /// Waits for a nested call. What the store refuses is an answer too, which must be logged: at
  /// another time it might not refuse.
  private Execution.Nested nested(Execution caller, Request request, Runnable submit) {
    RuntimeException refusal = refusal(caller, request);
    if (refusal != null) {
      request.fail(refusal);
    } else {
      int began = engine.runners().now();
      submit.run();
      awaitHelping(request, caller);
      caller.hasWaited(engine.runners().now() - began);
      caller.waitingFor = null;
      caller.reach = Math.max(caller.reach, request.reach);
    }
    try {
      return new Execution.Nested(request.answer().encoded(), !(request instanceof PutRequest));
    } catch (Gone
        | AlreadyExists
        | Deadlock
        | Diverged
        | LimitExceeded
        | DeadlineExceeded
        | CallFailed told) {
      return told(caller, told);
    } catch (RuntimeException failure) {
      throw caller.suspend(failure);
    }
  }

  /// The circle that a call would close on its own path, which may lead through other stores.
  static Deadlock circle(Execution caller, Key target) {
    List<Key> path = caller.path();
    var circle = new ArrayList<Key>(path.subList(path.indexOf(target), path.size()));
    circle.add(target);
    return Refusals.deadlock(circle);
  }

  Execution.Nested told(Execution caller, RuntimeException refusal) {
    return new Execution.Nested(
        engine.spaces().factory(caller.key().space()).failure(refusal).encoded(), true);
  }

  private @Nullable RuntimeException refusal(Execution caller, Request request) {
    if (request.depth > depthMax) {
      return Refusals.tooDeep(caller.key(), request.resident.key, request.depth, depthMax);
    }
    waiting.lock();
    try {
      List<Key> circle = caller.circleThrough(request.resident);
      if (circle == null) {
        caller.waitingFor = request;
        return null;
      }
      return Refusals.deadlock(circle);
    } finally {
      waiting.unlock();
    }
  }

  /// Waits on a handler's thread, which meanwhile does what it waits for.
  void awaitHelping(Request request, Execution caller) {
    Resident resident = request.resident;
    request.isAwaited();
    boolean interrupted = false;
    boolean waited = false;
    try {
      while (!request.isOver()) {
        caller.checkNotTakenBack();
        if (caller.refused != null) return;
        caller.makeWay();
        if (!intake.isEmpty() && engine.leader().lead(null)) continue;
        if (resident.runQuickUntil(request)) continue;
        if (waited && resident.isScheduled() && threads.mayRunLong()) {
          // No other thread is free for what may not come back.
          resident.runUntil(request);
        } else if (!request.isOver()) {
          threads.rest(request);
          interrupted |= threads.takeInterrupt();
          waited = true;
        }
      }
    } finally {
      if (interrupted) threads.giveInterrupt();
    }
  }

  /// Waits, before a run calls a key that is not loaded, until the calls that were under way there
  /// have gone on: they may call the caller's key, or be waiting for it since an earlier process.
  ///
  /// Of calls that were under way in a circle, one had been refused, or would have been; that need
  /// not be in the log. The one to be refused now is one for which nothing was logged at the key
  /// that it calls.
  ///
  /// @param address where the call is in the log of the key, which must then be executed; 0 when it
  ///   is not there, and may be refused
  /// @return why the call is refused, or null when it is not
  private @Nullable Deadlock awaitExecuted(Execution caller, Key target, long address) {
    var executed = new PositionRequest(pinned(target), pace(caller), caller.depth() + 1);
    executed.asker = caller;
    executed.behind = address;
    Resident resident = executed.resident;
    if (address > 0 ? resident.hasExecuted(address) : resident.isLoaded()) {
      executed.complete(null);
      return null;
    }
    try {
      Deadlock refused = beginToWait(caller, executed, address == 0);
      if (refused != null) {
        executed.complete(null);
        return refused;
      }
    } catch (Execution.Unwinding unwinding) {
      executed.complete(null);
      throw unwinding;
    }
    int began = engine.runners().now();
    engine.leader().ask(executed);
    awaitHelping(executed, caller);
    caller.hasWaited(engine.runners().now() - began);
    return endToWait(caller, executed);
  }

  private @Nullable Deadlock beginToWait(
      Execution caller, PositionRequest executed, boolean refusable) {
    waiting.lock();
    try {
      List<Key> circle = caller.circleThrough(executed.resident);
      if (circle != null) {
        if (refusable) return Refusals.deadlock(circle);
        Execution other = caller.refusableBehind(executed.resident);
        if (other == null) {
          throw caller.suspend(
              new Unavailable("calls wait for each other: " + Refusals.deadlock(circle)));
        }
        if (other.refused == null) other.refused = Refusals.deadlock(circle);
        engine.runners().wake(other);
        if (engine.runners().isOfCurrentThread(other)) throw new Execution.Yielded();
      }
      caller.waitingFor = executed;
      caller.refusable = refusable;
      return null;
    } finally {
      waiting.unlock();
    }
  }

  /// Refuses what a run waits for, if nothing was logged for that.
  void refuse(Execution waits, Deadlock why) {
    waiting.lock();
    try {
      if (!waits.refusable) return;
      if (waits.refused == null) waits.refused = why;
      engine.runners().wake(waits);
    } finally {
      waiting.unlock();
    }
  }

  private @Nullable Deadlock endToWait(Execution caller, PositionRequest executed) {
    waiting.lock();
    try {
      caller.waitingFor = null;
      caller.refusable = false;
      Deadlock refused = caller.refused;
      caller.refused = null;
      if (refused != null) return refused;
    } finally {
      waiting.unlock();
    }
    if (executed.passed != null) return executed.passed;
    if (executed.isDone()) executed.check();
    return null;
  }

  /// The answer to an executed put.
  private Answer answerFromLog(Key target, long address) {
    engine.questions().barrier(target);
    return answerInLog(target, address);
  }

  /// The answer to an executed put; null when that was taken back, or found its key absent.
  @Nullable Answer findAnswer(Key target, long address) {
    engine.questions().barrier(target);
    return answerInStream(target, address);
  }

  /// See [Store#replay].
  @Nullable Answer replay(Key target, long address, HandlerFactory factory) {
    engine.questions().barrier(target);
    int end = engine.deadlines().end(Deadlines.ticks(engine.callTimeMax()));
    try {
      return answerInStream(target, address, new Materialized(engine, target, factory).until(end));
    } catch (Execution.Suspended stopped) {
      throw stopped.reason();
    }
  }

  private @Nullable Answer answerInStream(Key target, long address) {
    var past = new Materialized(engine, target, engine.spaces().factory(target.space()));
    return answerInStream(target, address, past);
  }

  private @Nullable Answer answerInStream(Key target, long address, Materialized past) {
    return past.loadAnswer(address, engine.streams().last(target.stream()));
  }

  /// As [#answerFromLog], of a put whose nested answers are known to be in its stream.
  Answer answerInLog(Key target, long address) {
    Answer answer = answerInStream(target, address);
    return answer != null
        ? answer
        : engine
            .spaces()
            .factory(target.space())
            .failure(engine.deadlines().reason(target, address));
  }

  private long addressInLog(Execution caller, Key target, Records.Origin origin) {
    StreamId stream = target.stream();
    long last = engine.streams().last(stream);
    long low = firstBehind(stream, caller.counter);
    var found = new long[1];
    engine
        .streams()
        .scan(
            stream,
            low,
            last,
            entry -> {
              if (entry.kind() == Records.PUT && origin.equals(Records.originOf(entry.payload()))) {
                found[0] = entry.address();
              }
              return found[0] == 0;
            });
    return found[0];
  }

  /// See [Store#earlier].
  @Nullable PriorOutcome earlier(Key key, Records.Origin origin, long since) {
    long executed = engine.questions().position(key);
    StreamId stream = key.stream();
    long low = firstBehind(stream, since);
    var found = new StoredEntry[1];
    engine
        .streams()
        .scan(
            stream,
            low,
            executed,
            entry -> {
              boolean change = entry.kind() == Records.PUT || entry.kind() == Records.DELETE;
              if (change && origin.equals(Records.originOf(entry.payload()))) found[0] = entry;
              return found[0] == null;
            });
    StoredEntry entry = found[0];
    if (entry == null) {
      // What was written may have been released. Whoever asks has waited for long.
      if (low > 1 && engine.streams().read(stream, low - 1) == null) {
        engine.retention().check(key, low - 1);
      }
      return null;
    }
    Past then = Past.after(engine, key, entry.address());
    long counter = entry.log().counter();
    if (entry.kind() == Records.DELETE) {
      long ended = Past.after(engine, key, entry.address() - 1).generation();
      return new PriorOutcome(null, ended, counter);
    }
    return new PriorOutcome(answerFromLog(key, entry.address()), then.generation(), counter);
  }

  /// The first address of a stream that stands behind a place in the log, or the one after its
  /// last.
  long firstBehind(StreamId stream, long counter) {
    // Mostly it is near the end.
    long high = engine.streams().last(stream) + 1;
    long step = 1;
    while (high > step && isBehind(stream, high - step, counter)) {
      high -= step;
      step *= 2;
    }
    long low = Math.max(1, high - step + 1);
    while (low < high) {
      long middle = (low + high) >>> 1;
      if (isBehind(stream, middle, counter)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  private boolean isBehind(StreamId stream, long address, long counter) {
    StoredEntry entry = engine.streams().read(stream, address);
    return entry != null && entry.log().counter() > counter;
  }
}
