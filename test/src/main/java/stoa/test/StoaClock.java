package stoa.test;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import stoa.base.Clock;
import stoa.store.threads.Threads;

/// The clock of a store, a server or a cluster, which the test moves. It begins with the present
/// time and runs on as the clock of the machine does.
///
/// The clock says what [stoa.Call#now()] returns, and how old the past is for [stoa.Keep#age]. The
/// time limits of calls run out as it advances. Leases of sessions, elections and the time limits
/// of a client go by the time that really passes.
///
/// Thread-safe.
public final class StoaClock {
  /* More units than any time limit that a test waits for. */
  private static final long TICKS_MAX = 20_000;

  private final Clock machine = Clock.system();
  private final AtomicLong movedMicros = new AtomicLong();
  private final List<Runnable> ticks = new CopyOnWriteArrayList<>();

  StoaClock() {}

  /// Returns the time that the clock shows.
  public Instant now() {
    return Instant.EPOCH.plus(micros(), ChronoUnit.MICROS);
  }

  /// Moves the clock ahead. Calls in progress whose time limit ends before that time end with
  /// [stoa.DeadlineExceeded].
  ///
  /// @param time how far; time limits run on for at most 1,000 s of it
  /// @throws IllegalArgumentException when it is negative; see [#setBack(Duration)]
  public void advance(Duration time) {
    requirePositive(time, "setBack");
    long units = Math.min(TICKS_MAX, time.toMillis() / Threads.TICK_MILLIS);
    // The clock moves in front of the last unit: what then begins, such as the call of a timer, is
    // not in progress while its time limit runs out.
    for (long unit = 1; unit < units; unit++) ticks.forEach(Runnable::run);
    movedMicros.addAndGet(micros(time));
    if (units > 0) ticks.forEach(Runnable::run);
  }

  /// Sets the clock back, as an operator or a time server may do. [stoa.Call#now()] stands still
  /// until the clock has reached its earlier time again.
  ///
  /// @param time how far
  /// @throws IllegalArgumentException when it is negative; see [#advance(Duration)]
  public void setBack(Duration time) {
    requirePositive(time, "advance");
    movedMicros.addAndGet(-micros(time));
  }

  private static void requirePositive(Duration time, String other) {
    if (!Objects.requireNonNull(time, "time").isNegative()) return;
    throw new IllegalArgumentException(
        time + " is negative; use " + other + "(" + time.negated() + ")");
  }

  private static long micros(Duration time) {
    return time.toNanos() / 1_000;
  }

  private long micros() {
    return machine.nowMicros() + movedMicros.get();
  }

  /// Returns the clock as an engine reads it.
  Clock clock() {
    return this::micros;
  }

  /// Returns new threads of a store whose time limits this clock moves.
  Threads threads() {
    return new ClockedThreads(Threads.real(), ticks);
  }
}
