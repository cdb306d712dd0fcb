package stoa.bench.cluster;

import java.util.List;
import stoa.bench.load.Load;

/// The load of some callers of counters.
///
/// @param writes whether they add, or only read
/// @param counters the number of counters that they spread over
/// @param callers the number of callers
record ClusterLoad(boolean writes, int counters, int callers) {
  /// The most counters of a load.
  static final int COUNTERS_MAX = 100;

  private static final int PLATFORM_THREADS_MAX = 24;

  static final ClusterLoad ONE = new ClusterLoad(true, 1, 1);
  static final ClusterLoad HOT = new ClusterLoad(true, 1, 240);
  static final ClusterLoad SOME = new ClusterLoad(true, COUNTERS_MAX, 24);
  static final ClusterLoad MANY = new ClusterLoad(true, COUNTERS_MAX, 240);

  /// All loads.
  static final List<ClusterLoad> ALL =
      List.of(
          ONE,
          new ClusterLoad(true, 1, 24),
          HOT,
          SOME,
          MANY,
          new ClusterLoad(false, COUNTERS_MAX, 24),
          new ClusterLoad(false, COUNTERS_MAX, 240));

  Load.Threads threads() {
    return callers <= PLATFORM_THREADS_MAX ? Load.Threads.PLATFORM : Load.Threads.VIRTUAL;
  }

  @Override
  public String toString() {
    return "%s, %d counter%s, %d caller%s"
        .formatted(
            writes ? "inc" : "read",
            counters,
            counters == 1 ? "" : "s",
            callers,
            callers == 1 ? "" : "s");
  }
}
