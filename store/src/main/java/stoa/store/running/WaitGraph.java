package stoa.store.running;

import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.Deadlock;
import stoa.Unavailable;
import stoa.base.Key;
import stoa.store.records.KeyRefusals;

/// Which runs of a store wait for which requests, so that no circle of them closes. Thread-safe.
public final class WaitGraph {
  private final Runners runners;

  /// Held while a run begins to wait for another, so that of two that would close a circle one sees
  /// the other.
  private final ReentrantLock waiting = new ReentrantLock();

  /// How many handlers may wait for each other.
  private final int depthMax;

  public WaitGraph(Runners runners, int depthMax) {
    this.runners = runners;
    this.depthMax = depthMax;
  }

  /// How many handlers may wait for each other.
  public int depthMax() {
    return depthMax;
  }

  /// A run begins to wait for a request; answers why not, when too many runs wait for each other or
  /// this would close a circle; null when it waits.
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

  /// As [#begin], before the run calls a key that is not loaded. The call may be refused when it is
  /// not in the log; another is refused in its place when it is.
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

  /// Ends what [#beginUntilExecuted] began; answers why the call is refused, null when it is not.
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

  /// Refuses what a run waits for, if nothing was logged for that.
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
