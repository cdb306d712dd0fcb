package stoa.bench.curves;

import java.time.Duration;
import java.util.List;

/// How long the parts of the benchmark of curves are.
///
/// @param rounds how often each measure is taken; the median counts
/// @param objects the numbers of keys, counters or queues that callers spread over, at most
///   [CurveContender#OBJECTS_MAX]
/// @param callers the numbers of threads
/// @param heat how long each operation runs at servers that have just started, before anything
///   counts
/// @param warmUp how long a load runs before it counts
/// @param time how long a load counts
public record CurvesScale(
    int rounds,
    List<Integer> objects,
    List<Integer> callers,
    Duration heat,
    Duration warmUp,
    Duration time) {
  static CurvesScale full() {
    return new CurvesScale(
        3,
        List.of(1, 10, CurveContender.OBJECTS_MAX),
        List.of(1, 2, 4, 8, 16, 24),
        Duration.ofSeconds(5),
        Duration.ofMillis(100),
        Duration.ofMillis(500));
  }

  static CurvesScale smoke() {
    return new CurvesScale(
        1,
        List.of(1, 10),
        List.of(1, 4),
        Duration.ofMillis(100),
        Duration.ofMillis(20),
        Duration.ofMillis(50));
  }
}
