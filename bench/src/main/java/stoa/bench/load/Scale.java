package stoa.bench.load;

import java.time.Duration;

/// How long the loads of a benchmark run.
///
/// @param rounds how often each measure is taken; the median counts
/// @param warmUp how long a load runs before it counts
/// @param time how long a load counts
public record Scale(int rounds, Duration warmUp, Duration time) {
  /// The scale whose results are kept: some minutes.
  public static Scale full() {
    return new Scale(5, Duration.ofMillis(500), Duration.ofMillis(1500));
  }

  /// The scale that shows, within three minutes, that a benchmark runs.
  public static Scale smoke() {
    return new Scale(1, Duration.ofMillis(200), Duration.ofMillis(300));
  }
}
