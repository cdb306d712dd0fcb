package stoa.base;

import java.time.Instant;

/// The time of day, handed to whoever may know it. Cores are told the time instead.
@FunctionalInterface
public interface Clock {
  /// Microseconds since 1970; may go back when the machine's clock is set.
  long nowMicros();

  /// The machine's clock.
  static Clock system() {
    return () -> {
      Instant now = Instant.now();
      return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
    };
  }
}
