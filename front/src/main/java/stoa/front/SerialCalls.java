package stoa.front;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.LimitExceeded;
import stoa.base.StreamId;

/// Runs the asynchronous calls of this process: those on one object one after the other, in the
/// order of their arrival. Thread-safe.
public final class SerialCalls {
  private record Turn(CallRecorder.Reading call, CallRecorder.Settled settled) {}

  private final Executor threads;
  private final int callsMax;
  // The calls of each object that has any: the running one, then the waiting ones; and the number
  // of all calls. Guarded by this.
  private final Map<StreamId, Deque<Turn>> waiting = new HashMap<>();
  private int calls;

  /// @param threads run the calls, which may take long
  /// @param callsMax the most calls in progress
  public SerialCalls(Executor threads, int callsMax) {
    this.threads = threads;
    this.callsMax = callsMax;
  }

  /// Runs a call when its turn comes.
  ///
  /// @param settled receives the answer when it is over
  /// @throws LimitExceeded when there are too many
  public void add(StreamId object, CallRecorder.Reading call, CallRecorder.Settled settled) {
    var turn = new Turn(call, settled);
    synchronized (this) {
      if (calls == callsMax) {
        throw new LimitExceeded(
            callsMax
                + " calls are in progress (queuedCallsMax); wait for some, or raise the limit");
      }
      calls++;
      var queue = waiting.get(object);
      if (queue != null) {
        queue.add(turn);
        return;
      }
      waiting.put(object, new ArrayDeque<>());
    }
    try {
      threads.execute(() -> run(object, turn));
    } catch (RejectedExecutionException closed) {
      run(object, new Turn(SerialCalls::closed, settled));
    }
  }

  private static @Nullable Object closed() {
    throw new Closed("the store was closed before the call was made");
  }

  private void run(StreamId object, Turn first) {
    for (Turn turn = first; turn != null; turn = next(object)) {
      CallRecorder.Reading outcome;
      try {
        Object answer = turn.call.get();
        outcome = () -> answer;
      } catch (Throwable thrown) {
        outcome =
            () -> {
              throw thrown;
            };
      }
      turn.settled.answer(outcome);
    }
  }

  private synchronized @Nullable Turn next(StreamId object) {
    calls--;
    var queue = waiting.get(object);
    Turn next = queue == null ? null : queue.poll();
    if (next == null) waiting.remove(object);
    return next;
  }
}
