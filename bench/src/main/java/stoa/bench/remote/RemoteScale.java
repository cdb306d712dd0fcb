package stoa.bench.remote;

import java.time.Duration;

/// How long the parts of the remote benchmark are.
///
/// @param rounds how often each measure is taken; the median counts
/// @param heat how long a contender's loads run once before the first round, all together, so that
///   Java compiles server and client
/// @param warmUp how long a load runs before it counts
/// @param time how long a load counts
public record RemoteScale(int rounds, Duration heat, Duration warmUp, Duration time) {
  /// The scale whose results are kept: about ten minutes.
  public static RemoteScale full() {
    return new RemoteScale(
        3, Duration.ofSeconds(12), Duration.ofMillis(300), Duration.ofMillis(1000));
  }

  /// The scale that shows that it runs.
  public static RemoteScale smoke() {
    return new RemoteScale(
        1, Duration.ofMillis(100), Duration.ofMillis(20), Duration.ofMillis(100));
  }
}
