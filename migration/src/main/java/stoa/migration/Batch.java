package stoa.migration;

import org.jspecify.annotations.Nullable;
import stoa.migration.core.CostModel.Updates;

/// What calls on one object took and is not told yet: it is told after so many calls, fewer after
/// the object has changed sides, and more of quick ones, which take less than to tell of them.
/// Thread-safe.
final class Batch {
  private static final int CALLS_MAX = 4;
  private static final int QUICK_CALLS_MAX = 256;
  private static final long QUICK_NANOS = 1_000_000;

  private Updates updates = Updates.none(false);
  private int calls = 1;
  private @Nullable Object last;

  /// Notes a call.
  ///
  /// @param nanos how long its caller waited
  /// @param from where the state was before: the state has moved when that is not where the call
  ///   before has left it; null when that was not seen
  /// @param left where it is now
  /// @return what is to be told; null for nothing yet
  synchronized @Nullable Updates note(
      boolean atServer,
      long nanos,
      Auto.Meter meter,
      @Nullable Object from,
      @Nullable Object left) {
    boolean moved = from != null && !from.equals(last);
    if (from != null) last = left;
    if (updates.atServer() != atServer) {
      updates = Updates.none(atServer);
      calls = 1;
    }
    updates = updates.and(nanos, meter.computeNanos(), meter.stateBytes(), moved);
    if (updates.count() < calls) return null;
    boolean quick = updates.nanos() < QUICK_NANOS && updates.count() < QUICK_CALLS_MAX;
    if (calls == CALLS_MAX && quick) return null;
    calls = Math.min(CALLS_MAX, 2 * calls);
    return taken();
  }

  /// What is not told yet, to be told now.
  synchronized Updates taken() {
    var due = updates;
    updates = Updates.none(due.atServer());
    return due;
  }
}
