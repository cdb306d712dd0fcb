package stoa.store.leading;

import stoa.base.Clock;

/// The time of a log: it never falls behind the last batch, whatever the machine's clock does. The
/// batch writer alone advances it; any thread reads it.
public final class LogClock {
  private final Clock clock;
  private volatile long last;

  /// @param last the time of the last batch in the log
  public LogClock(Clock clock, long last) {
    this.clock = clock;
    this.last = last;
  }

  /// Returns the time now, never before that of the last batch, in microseconds since 1970.
  public long nowMicros() {
    return Math.max(last, clock.nowMicros());
  }

  /// Returns the time of the last batch.
  public long last() {
    return last;
  }

  /// Notes the time of a logged batch.
  public void reached(long micros) {
    last = micros;
  }

  /// Returns the time of the machine, for measuring.
  public long machineMicros() {
    return clock.nowMicros();
  }
}
