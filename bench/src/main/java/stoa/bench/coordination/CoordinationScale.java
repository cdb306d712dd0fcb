package stoa.bench.coordination;

import java.time.Duration;

/// How long the parts of the benchmark of coordination are.
///
/// @param rounds how often each measure is taken; the median counts
/// @param heat how long each load of a contender runs before the first round
/// @param warmUp how long a load runs before it counts
/// @param time how long a load counts
public record CoordinationScale(int rounds, Duration heat, Duration warmUp, Duration time) {
  static CoordinationScale full() {
    return new CoordinationScale(
        5, Duration.ofSeconds(3), Duration.ofMillis(300), Duration.ofSeconds(1));
  }

  static CoordinationScale smoke() {
    return new CoordinationScale(
        1, Duration.ofMillis(100), Duration.ofMillis(20), Duration.ofMillis(100));
  }
}
