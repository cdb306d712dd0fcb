package stoa.test;

import java.time.Duration;
import stoa.Limits;
import stoa.StoaConfig;

/// The settings of the kit.
final class Settings {
  private static final Duration CALL_TIME_MAX = Duration.ofSeconds(30);

  private Settings() {}

  /// Returns the configuration of a test that has none of its own: calls may take longer than
  /// usual, because a machine that runs many tests elects a leader late.
  static StoaConfig standard() {
    return StoaConfig.of("memory:").withLimits(Limits.standard().withCallTimeMax(CALL_TIME_MAX));
  }
}
