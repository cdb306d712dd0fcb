package stoa.base;

import java.time.Instant;

/// The time of day. Edges read a clock; cores get the time as an argument.
@FunctionalInterface
public interface Clock {
  /// Returns microseconds since 1970; may go back when the machine's clock is set.
  long nowMicros();

  /// Returns the machine's clock.
  static Clock system() {
    return () -> {
      Instant now = Instant.now();
      return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
    };
  }
}
