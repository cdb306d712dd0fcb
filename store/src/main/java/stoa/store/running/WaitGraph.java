package stoa.store.running;

import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.Deadlock;
import stoa.Unavailable;
import stoa.base.Key;
import stoa.store.records.KeyRefusals;

/// Records which runs of a store wait for which requests, and refuses to close a circle of them.
/// Thread-safe.
public final class WaitGraph {
  private final Runners runners;

  // Held while a run begins to wait for another one: of two runs that would close a circle, one
  // sees the other.
  private final ReentrantLock waiting = new ReentrantLock();

  // How many handlers may wait for each other.
  private final int depthMax;

  public WaitGraph(Runners runners, int depthMax) {
    this.runners = runners;
    this.depthMax = depthMax;
  }

  /// Returns how many handlers may wait for each other.
  public int depthMax() {
    return depthMax;
  }

  /// Begins to wait for a request; returns the refusal when too many runs wait for each other or
  /// this one would close a circle, and null otherwise.
  public @Nullable RuntimeException begin(Execution caller, Request request) {
    if (request.depth > depthMax) {
      return KeyRefusals.tooDeep(caller.key(), request.resident.key, request.depth, depthMax);
    }
    waiting.lock();
    try {
      List<Key> circle = caller.circleThrough(request.resident);
      if (circle == null) {
        caller.waitingFor = request;
        return null;
      }
      return KeyRefusals.deadlock(circle);
    } finally {
      waiting.unlock();
    }
  }

  /// Begins, like [#begin], to wait before the run calls a key that is not loaded. If the call is
  /// not in the log, this may refuse it; if the call is in the log, this refuses another one in its
  /// place.
  public @Nullable Deadlock beginUntilExecuted(Execution caller, PositionRequest executed) {
    boolean refusable = executed.behind == 0;
    waiting.lock();
    try {
      List<Key> circle = caller.circleThrough(executed.resident);
      if (circle != null) {
        if (refusable) return KeyRefusals.deadlock(circle);
        Execution other = caller.refusableBehind(executed.resident);
        if (other == null) {
          throw caller.suspend(
              new Unavailable("calls wait for each other: " + KeyRefusals.deadlock(circle)));
        }
        if (other.refused == null) other.refused = KeyRefusals.deadlock(circle);
        runners.wake(other);
        if (runners.isOfCurrentThread(other)) throw new Execution.Yielded();
      }
      caller.waitingFor = executed;
      caller.refusable = refusable;
      return null;
    } finally {
      waiting.unlock();
    }
  }

  /// Ends the wait that [#beginUntilExecuted] began; returns the refusal of the call, null when
  /// there is none.
  public @Nullable Deadlock endUntilExecuted(Execution caller, PositionRequest executed) {
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

  /// Refuses the request that a run waits for, if the store has logged nothing for it.
  void refuse(Execution waits, Deadlock why) {
    waiting.lock();
    try {
      if (!waits.refusable) return;
      if (waits.refused == null) waits.refused = why;
      runners.wake(waits);
    } finally {
      waiting.unlock();
    }
  }
}
