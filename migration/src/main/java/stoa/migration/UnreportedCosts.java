package stoa.migration;

import org.jspecify.annotations.Nullable;
import stoa.migration.core.CostModel.Updates;

/// The unreported costs of calls on one object. It reports them after some calls: at first after
/// each, and then at most once in a while. Of quick calls it records only some, which count for
/// more, because recording would take longer than the call. Thread-safe.
final class UnreportedCosts {
  /// The result of [#weight()] for calls that are not recorded.
  static final int NOT_NOTED = 0;

  private static final int CALLS_MAX = 16;
  private static final int COUNT_MAX = 4_096;
  private static final long SOON_NANOS = 10_000_000;
  private static final long LATE_NANOS = 100_000_000;
  private static final int SAMPLED = 16;
  private static final long QUICK_NANOS = 20_000;

  private Updates updates = Updates.none(false);
  private int calls = 1;
  private boolean begun;
  private long told;
  private @Nullable Object last;
  // Of recorded calls: how many there are, and how many of them were quick.
  private int noted;
  private int quick;

  // Whether only some are recorded; of SAMPLED two consecutive ones, the first of which notes where
  // it leaves the state. Any thread changes it: it does not matter which calls these are.
  private boolean samples;
  private int turn;

  /// Returns how many calls the next one stands for.
  int weight() {
    if (!samples) return 1;
    int now = ++turn % SAMPLED;
    return now == 0 ? 1 : now == 1 ? SAMPLED - 1 : NOT_NOTED;
  }

  /// Records a call.
  ///
  /// @param weight the result of [#weight()] before the call
  /// @param began when its caller began to wait
  /// @param ended when it had its answer
  /// @param from where the state was before: the state has moved if that differs from where the
  ///   last call left it; null when unknown
  /// @param left where the state is now
  /// @return the report; null for none yet
  synchronized @Nullable Updates note(
      boolean atServer,
      int weight,
      long began,
      long ended,
      Auto.Meter meter,
      @Nullable Object from,
      @Nullable Object left) {
    boolean moved = from != null && !from.equals(last);
    if (from != null) last = left;
    if (updates.atServer() != atServer) {
      updates = Updates.none(atServer);
      calls = 1;
      samples = false;
      noted = 0;
      quick = 0;
    }
    if (samples && weight == 1) return null; // not after the call before it
    if (!begun) {
      begun = true;
      told = began;
    }
    updates = updates.and(weight, ended - began, meter.computeNanos(), meter.stateBytes(), moved);
    noted++;
    if (ended - began < QUICK_NANOS) quick++;
    long since = ended - told;
    if (updates.count() < calls && since < LATE_NANOS) return null;
    if (calls == CALLS_MAX && since < SOON_NANOS && updates.count() < COUNT_MAX) return null;
    calls = Math.min(CALLS_MAX, 2 * calls);
    samples = 2 * quick > noted; // whose thread had to wait for a processor does not make it slow
    noted = 0;
    quick = 0;
    told += since;
    return taken();
  }

  /// Returns the unreported costs, as a report.
  synchronized Updates taken() {
    var due = updates;
    updates = Updates.none(due.atServer());
    return due;
  }
}
