package stoa.bench.maps;

import java.time.Duration;
import java.util.List;

/// How much the benchmark of maps does.
///
/// @param rounds how often each measure is taken; the median counts
/// @param records how many records there are
/// @param callers how many threads call, in turn
/// @param warmUp how long a load runs before it counts
/// @param time how long a load counts
public record MapsScale(
    int rounds, int records, List<Integer> callers, Duration warmUp, Duration time) {
  static MapsScale full() {
    return new MapsScale(
        3, 100_000, List.of(1, 16, 64), Duration.ofMillis(300), Duration.ofSeconds(1));
  }

  /// The scale of the papers, for `./stoa bench records`.
  static MapsScale served() {
    return new MapsScale(
        3, 1_000_000, List.of(1, 24), Duration.ofSeconds(1), Duration.ofSeconds(3));
  }

  static MapsScale smoke() {
    return new MapsScale(1, 500, List.of(4), Duration.ofMillis(20), Duration.ofMillis(100));
  }
}
