package stoa.store.nesting;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.AlreadyExists;
import stoa.CallFailed;
import stoa.DeadlineExceeded;
import stoa.Deadlock;
import stoa.Diverged;
import stoa.Gone;
import stoa.LimitExceeded;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.store.batches.BatchWriter;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.past.Playback;
import stoa.store.records.Records;
import stoa.store.running.Execution;
import stoa.store.running.GenerationRequest;
import stoa.store.running.GetRequest;
import stoa.store.running.OtherKeys;
import stoa.store.running.PositionRequest;
import stoa.store.running.PutRequest;
import stoa.store.running.Request;
import stoa.store.running.Resident;
import stoa.store.running.Residents;
import stoa.store.running.TimeLimits;
import stoa.store.running.Unfinished;
import stoa.store.running.WaitGraph;

/// Makes the calls of handlers on other keys: of this store here, and of others through
/// [CrossGroupCalls]. Thread-safe.
public final class Nesting implements OtherKeys {
  private final BatchWriter writer;
  private final Residents residents;
  private final TimeLimits limits;
  private final WaitGraph waits;
  private final Unfinished unfinished;
  private final EarlierCalls earlier;
  private final Playback playback;

  // Null when all keys are here.
  private final @Nullable CrossGroupCalls crossGroupCalls;

  /// The parts that make nested calls.
  ///
  /// @param writer logs and executes them
  /// @param residents the keys that they call
  /// @param limits their time limits
  /// @param waits the circles that they might close
  public record Parts(
      BatchWriter writer,
      Residents residents,
      TimeLimits limits,
      WaitGraph waits,
      Unfinished unfinished) {}

  /// @param earlier finds the calls that an earlier process made
  /// @param playback shows other keys as they were
  /// @param crossGroupCalls null when all keys are here
  public Nesting(
      Parts parts,
      EarlierCalls earlier,
      Playback playback,
      @Nullable CrossGroupCalls crossGroupCalls) {
    this.writer = parts.writer;
    this.residents = parts.residents;
    this.limits = parts.limits;
    this.waits = parts.waits;
    this.unfinished = parts.unfinished;
    this.earlier = earlier;
    this.playback = playback;
    this.crossGroupCalls = crossGroupCalls;
  }

  // ---- keys of other stores

  @Override
  public boolean hasNeighbors() {
    return crossGroupCalls != null;
  }

  @Override
  public boolean isInOtherGroup(Key key) {
    return crossGroupCalls != null && crossGroupCalls.has(key);
  }

  @Override
  public Execution.Nested putInOtherGroup(
      Execution caller, Key target, Object call, Existence existence, Records.Origin origin) {
    return otherGroups().put(caller, target, call, existence, origin);
  }

  @Override
  public Execution.Nested getInOtherGroup(
      Execution caller, Key target, Object query, Existence existence) {
    return otherGroups().get(caller, target, query, existence);
  }

  @Override
  public Execution.Nested getInOtherGroupNow(
      Execution caller, Key target, Object query, Existence existence) {
    return otherGroups().getNow(caller, target, query, existence);
  }

  private CrossGroupCalls otherGroups() {
    return Objects.requireNonNull(crossGroupCalls, "there are other stores");
  }

  // ---- keys of this store

  @Override
  public Execution.Nested put(
      Execution caller,
      Key target,
      Put put,
      Existence existence,
      Execution.Beginning beginning,
      Records.Origin origin) {
    if (caller.waitsForOtherGroup(target)) return caller.told(caller.circle(target));
    boolean resumed = caller.mode() == Execution.Mode.RESUMED;
    if (resumed) unfinished.begins(caller.key(), caller.address(), caller.counter);
    long address = resumed ? earlier.address(target, origin, caller.counter) : 0;
    Deadlock refused = awaitExecuted(caller, target, address);
    if (refused != null) return caller.told(refused);
    if (address > 0) {
      return Execution.Nested.found(earlier.answer(target, address).encoded());
    }
    byte[] unfit = beginning.unfit();
    if (unfit != null) return Execution.Nested.toLog(unfit);
    byte[] unbegun = refusal(caller, target, existence, beginning);
    if (unbegun != null) return Execution.Nested.toLog(unbegun);
    var terms = Terms.expecting(existence).at(pace(caller));
    var request = new PutRequest(pinned(target), put, terms, origin, caller.depth() + 1);
    request.asker = caller;
    request.trace(caller.trace());
    hasten(caller, request);
    request.after = caller.unsettledNote();
    unfinished.begins(caller.key(), caller.address(), writer.moments().moment());
    return nested(caller, request, () -> writer.add(request));
  }

  /// Returns the reason why a put cannot begin an absent key; null when it can, or when the key
  /// exists.
  private byte @Nullable [] refusal(
      Execution caller, Key target, Existence existence, Execution.Beginning beginning) {
    if (existence instanceof Existence.Generation) return null;
    if (residents.generationHint(target) != 0) return null;
    byte[] refusal = beginning.refusal();
    return refusal != null && isAbsent(caller, target) ? refusal : null;
  }

  /// Returns whether a key is absent, after the puts that are on their way to it. Returns false
  /// when the wait for these would close a circle; the put itself then gets that error.
  private boolean isAbsent(Execution caller, Key target) {
    var asked = new GenerationRequest(pinned(target), pace(caller), caller.depth() + 1);
    asked.asker = caller;
    if (waits.begin(caller, asked) != null) {
      asked.complete(null);
      return false;
    }
    int began = limits.now();
    writer.ask(asked);
    writer.awaitHelping(asked, caller);
    caller.hasWaited(limits.now() - began);
    caller.waitingFor = null;
    caller.sees(asked);
    try {
      asked.check();
    } catch (RuntimeException failure) {
      throw caller.suspend(failure);
    }
    return asked.number == 0;
  }

  @Override
  public Execution.Nested get(Execution caller, Key target, Object query, Existence existence) {
    if (caller.resident == null) return past(caller, target, query, existence);
    if (caller.waitsForOtherGroup(target)) return caller.told(caller.circle(target));
    Deadlock refused = awaitExecuted(caller, target, 0);
    if (refused != null) return caller.told(refused);
    var terms = Terms.expecting(existence).at(pace(caller));
    var request = new GetRequest(pinned(target), query, terms, caller.depth() + 1);
    request.asker = caller;
    request.trace(caller.trace());
    hasten(caller, request);
    return nested(
        caller,
        request,
        () -> {
          if (!writer.refuses(request) && request.resident.enqueue(request)) {
            var _ = request.resident.runQuickUntil(request);
          }
        });
  }

  /// Asks another key for a run in the past: the key as it was at the same place of the log.
  private Execution.Nested past(Execution caller, Key target, Object query, Existence existence) {
    caller.asked = true;
    if (caller.looking) throw new Execution.AsksThePast();
    RuntimeException refusal = caller.refusalOfPast(target);
    if (refusal != null) return caller.told(refusal);
    try {
      Answer answer = playback.at(target, caller.counter).get(query, existence, caller);
      return Execution.Nested.found(answer.encoded());
    } catch (Gone gone) {
      return caller.told(gone);
    }
  }

  private Resident pinned(Key target) {
    return residents.pinBegun(target);
  }

  /// Returns the pace of a nested call: that of the call that makes it.
  private static Pace pace(Execution caller) {
    Request outer = caller.request;
    return outer == null ? Pace.LONG : outer.pace.awaited();
  }

  /// Gives a nested call no more time than is left to the call that makes it.
  private void hasten(Execution caller, Request request) {
    Request outer = caller.request;
    if (outer == null || outer.ticksMax == 0 || caller.stands()) return;
    request.hastenAs(outer);
    limits.begun(request);
  }

  /// Waits for a nested call and returns its answer. A refusal of the store is an answer too, and
  /// must be logged: at another time the store might not refuse.
  private Execution.Nested nested(Execution caller, Request request, Runnable submit) {
    RuntimeException refusal = waits.begin(caller, request);
    if (refusal != null) {
      request.fail(refusal);
    } else {
      int began = limits.now();
      submit.run();
      writer.awaitHelping(request, caller);
      caller.hasWaited(limits.now() - began);
      caller.waitingFor = null;
      caller.reach = Math.max(caller.reach, request.reach);
    }
    caller.sees(request);
    try {
      byte[] answer = request.answer().encoded();
      return request instanceof PutRequest
          ? Execution.Nested.found(answer)
          : Execution.Nested.toLog(answer);
    } catch (Gone
        | AlreadyExists
        | Deadlock
        | Diverged
        | LimitExceeded
        | DeadlineExceeded
        | CallFailed told) {
      return caller.told(told);
    } catch (RuntimeException failure) {
      throw caller.suspend(failure);
    }
  }

  /// Waits, before a run calls a key that is not loaded, until the key has resumed its unfinished
  /// calls: these may call the caller's key, or an earlier process may have left them waiting for
  /// it.
  ///
  /// If unfinished calls formed a circle, the earlier process had refused one of them, or was about
  /// to; the log need not have that refusal. This refuses a call for which the called key has
  /// logged nothing.
  ///
  /// @param address the address of the call in the log of the key, which the key must then execute;
  ///   0 when the log does not have the call, which may then be refused
  /// @return the reason why the call is refused, or null when it is not
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
      Deadlock refused = waits.beginUntilExecuted(caller, executed);
      if (refused != null) {
        executed.complete(null);
        return refused;
      }
    } catch (Execution.Unwinding unwinding) {
      executed.complete(null);
      throw unwinding;
    }
    int began = limits.now();
    writer.ask(executed);
    writer.awaitHelping(executed, caller);
    caller.hasWaited(limits.now() - began);
    return waits.endUntilExecuted(caller, executed);
  }
}
