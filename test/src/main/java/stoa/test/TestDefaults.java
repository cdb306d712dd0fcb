package stoa.test;

import java.time.Duration;
import stoa.Limits;
import stoa.StoaConfig;

/// The configuration of tests that give none.
final class TestDefaults {
  private static final Duration CALL_TIME_MAX = Duration.ofSeconds(30);

  private TestDefaults() {}

  /// Returns the configuration of a test that has none of its own: calls may take longer than
  /// usual, because a machine that runs many tests elects a leader late.
  static StoaConfig standard() {
    return StoaConfig.of("memory:").withLimits(Limits.standard().withCallTimeMax(CALL_TIME_MAX));
  }
}
