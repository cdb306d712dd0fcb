package stoa.stacksync.replay;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import stoa.Unavailable;
import stoa.UnknownOutcome;

/// How long to try again what the store cannot do, or does not say that it did. Only for calls that
/// are harmless when they are made twice.
///
/// @param max from the first attempt to the last; zero for a single attempt
public record Outage(Duration max) {
  private static final long PAUSE_NANOS = 50_000_000;

  /// For a store in this process: what fails there will not come back.
  public static final Outage NONE = new Outage(Duration.ZERO);

  /// Makes a call until it has an outcome.
  ///
  /// @throws Unavailable when the store still cannot do it
  /// @throws UnknownOutcome when the store still does not say whether it did
  public <R> R bridge(Supplier<R> call) {
    long start = System.nanoTime();
    while (true) {
      try {
        return call.get();
      } catch (Unavailable | UnknownOutcome e) {
        if (System.nanoTime() - start >= max.toNanos()) throw e;
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }
}
