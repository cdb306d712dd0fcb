package stoa.store.running;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import stoa.CallFailed;
import stoa.base.Key;
import stoa.store.calls.OngoingCall;
import stoa.store.calls.Visit;
import stoa.store.threads.Threads;

/// Lists the calls in progress for an operator, and cancels them. Thread-safe.
public final class CallList {
  // For how many ticks an operator waits for the next run of a call to begin.
  private static final int BETWEEN_TICKS = 1_000 / Threads.TICK_MILLIS;

  private final Runners runners;
  private final Residents residents;
  private final Verdicts verdicts;
  private final WaitingCalls waiting;
  private final Threads threads;
  private final AtomicLong ids = new AtomicLong();

  public CallList(
      Runners runners,
      Residents residents,
      Verdicts verdicts,
      WaitingCalls waiting,
      Threads threads) {
    this.waiting = waiting;
    this.runners = runners;
    this.residents = residents;
    this.verdicts = verdicts;
    this.threads = threads;
  }

  /// Returns the id by which an operator names a request while it is in progress.
  public long id(Request request) {
    return request.id(ids);
  }

  /// Returns at most `callsMax` of the running and waiting calls, the running ones first.
  public List<OngoingCall> calls(int callsMax) {
    var calls = new ArrayList<OngoingCall>();
    int now = runners.now();
    runners.visit(run -> {
      if (calls.size() < callsMax && isCall(run)) calls.add(call(run, now));
    });
    residents.visit(resident -> {
      if (calls.size() >= callsMax || !resident.isBusy()) return;
      resident.visitRequests(request -> {
        boolean waits = isHandled(request) && request.isWaiting();
        if (calls.size() < callsMax && waits) {
          calls.add(call(request, OngoingCall.Progress.WAITING, now));
        }
      });
    });
    waiting.visit(put -> {
      if (calls.size() < callsMax) calls.add(call(put, OngoingCall.Progress.AWAITING, now));
    });
    return calls;
  }

  private static boolean isHandled(Request request) {
    return request instanceof PutRequest || request instanceof GetRequest;
  }

  private static boolean isCall(Execution run) {
    return run.mode() != Execution.Mode.REPLAYED;
  }

  private OngoingCall call(Execution run, int now) {
    Request request = run.request;
    Request awaited = run.waitingFor;
    Visit visit = run.visit;
    Key calls = awaited != null ? awaited.resident.key : visit != null ? visit.target() : null;
    return new OngoingCall(
        run.id(ids),
        run.key(),
        value(request),
        query(request),
        run.address(),
        calls == null ? OngoingCall.Progress.RUNNING : OngoingCall.Progress.CALLING,
        calls,
        run.depth(),
        session(run),
        age(now - (request != null ? request.since : run.startTick)));
  }

  private OngoingCall call(Request request, OngoingCall.Progress progress, int now) {
    return new OngoingCall(
        request.id(ids),
        request.resident.key,
        value(request),
        query(request),
        request instanceof PutRequest put ? put.address : 0,
        progress,
        null,
        request.depth,
        request.session(),
        age(now - request.since));
  }

  /// Returns the session of the client that made the call, or the call that led to it; 0 for none.
  private static long session(Execution run) {
    for (@Nullable Execution next = run; next != null; next = next.caller) {
      Request request = next.request;
      if (request != null && request.session() != 0) return request.session();
    }
    return 0;
  }

  private static byte @Nullable [] value(@Nullable Request request) {
    return request instanceof PutRequest put ? put.value : null;
  }

  private static @Nullable Object query(@Nullable Request request) {
    return request instanceof GetRequest question ? question.query : null;
  }

  private static Duration age(int ticks) {
    return Duration.ofMillis((long) Threads.TICK_MILLIS * Math.max(0, ticks));
  }

  /// Cancels the call with an id; returns whether there was a call to cancel. If the store gave up
  /// one run of the call and a worker has not begun the next one yet, this waits for a moment.
  public boolean cancel(long id) {
    int since = runners.now();
    while (true) {
      Found found = cancelFound(id);
      boolean again = found == Found.BETWEEN && runners.now() - since < BETWEEN_TICKS;
      if (!again) return found == Found.CANCELLED;
      threads.pause();
    }
  }

  /// The outcome of an attempt to cancel a call.
  private enum Found {
    /// There is no such call, or it cannot be cancelled.
    NONE,
    /// The call neither waits nor has a run to take back: its next run is about to begin.
    BETWEEN,
    /// The call is cancelled.
    CANCELLED
  }

  private Found cancelFound(long id) {
    boolean waited =
        waiting.end(
            put -> put.id(ids) == id,
            put -> byOperator(put.resident.key, "; it waited for its condition"));
    if (waited) return Found.CANCELLED;
    var found = new Found[] {Found.NONE};
    var stands = new boolean[1];
    runners.visit(run -> {
      if (found[0] == Found.CANCELLED || !isCall(run) || run.id(ids) != id) return;
      if (cancel(run)) found[0] = Found.CANCELLED;
      else if (!run.isTakenBack()) stands[0] = true;
    });
    residents.visit(resident -> {
      if (found[0] == Found.CANCELLED || !resident.isBusy()) return;
      resident.visitRequests(request -> {
        if (!isHandled(request) || request.id(ids) != id) return;
        if (verdicts.takeBack(request, byOperator(resident.key, "; it was not executed"))) {
          found[0] = Found.CANCELLED;
        } else if (request.isBegun() && !request.isDone() && !stands[0]) {
          found[0] = Found.BETWEEN;
        }
      });
    });
    return found[0];
  }

  private boolean cancel(Execution run) {
    return verdicts.stop(run, byOperator(run.key(), "; what it had changed there was taken back"));
  }

  private static CallFailed byOperator(Key key, String rest) {
    return new CallFailed("an operator cancelled a call on " + key + rest);
  }
}
