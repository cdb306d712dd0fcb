package stoa;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// When a timer calls its method: once, or again and again. Immutable.
///
/// Times are those of the log ([Call#now()]), with a precision of microseconds. A timer never fires
/// before its time. It fires later when the store is down, or busy, at its time.
///
/// @param at the first time; null when it is counted from the call that schedules
/// @param after the time from that call to the first firing; zero when `at` is given
/// @param every the time from one firing to the next, at least [#EVERY_MIN]; zero for one firing
/// @param missed the policy for repeats of which several have become due
/// @param missedMax how many missed repeats [Missed#EACH] makes up for, at most [#MISSED_MAX]
public record Schedule(
    @Nullable Instant at, Duration after, Duration every, Missed missed, int missedMax) {
  /// The shortest time between two firings.
  public static final Duration EVERY_MIN = Duration.ofMillis(1);

  /// The most missed repeats that a timer makes up for.
  public static final int MISSED_MAX = 10_000;

  private static final Duration TIME_MAX = Duration.ofDays(365_000);

  /// The policy for missed repeats: those whose successor is due, too, when the store comes to fire
  /// the timer.
  public enum Missed {
    /// It fires once for all that are due. The next firing is at its ordinary time.
    ONCE,
    /// It does not fire for what was missed. The next firing is at the next ordinary time.
    SKIP,
    /// It fires for each, one after the other.
    EACH
  }

  /// Checks the values.
  ///
  /// @throws IllegalArgumentException when a time is negative, too short or too long
  public Schedule {
    requireTime(after, "the time until a timer fires");
    requireTime(every, "the time between two firings");
    Objects.requireNonNull(missed, "what happens to missed repeats is null");
    if (at != null && Duration.between(Instant.EPOCH, at).abs().compareTo(TIME_MAX) > 0) {
      throw new IllegalArgumentException(at + " is no time for a timer; use one until 2969");
    }
    if (every.isPositive() && every.compareTo(EVERY_MIN) < 0) {
      throw new IllegalArgumentException(
          "a timer cannot fire every " + every + "; the shortest time is " + EVERY_MIN);
    }
    if (missedMax < 1 || missedMax > MISSED_MAX) {
      throw new IllegalArgumentException(
          missedMax + " missed repeats; a timer makes up for 1 to " + MISSED_MAX);
    }
  }

  private static void requireTime(Duration time, String what) {
    Objects.requireNonNull(time, what + " is null");
    if (time.isNegative() || time.compareTo(TIME_MAX) > 0) {
      throw new IllegalArgumentException(what + " is " + time + "; use 0 to 1,000 years");
    }
  }

  /// Returns a schedule of one firing, a time after the call that schedules it.
  public static Schedule after(Duration time) {
    return new Schedule(null, time, Duration.ZERO, Missed.ONCE, 1);
  }

  /// Returns a schedule of one firing. A time in the past is due at once.
  public static Schedule at(Instant time) {
    Objects.requireNonNull(time, "the time is null");
    return new Schedule(time, Duration.ZERO, Duration.ZERO, Missed.ONCE, 1);
  }

  /// Returns a schedule of a firing after each such time, until a caller cancels the timer. For
  /// missed repeats it fires once.
  ///
  /// @throws IllegalArgumentException when the time is shorter than [#EVERY_MIN]
  public static Schedule every(Duration time) {
    if (!time.isPositive()) {
      throw new IllegalArgumentException("a timer cannot fire every " + time);
    }
    return new Schedule(null, time, time, Missed.ONCE, 1);
  }

  /// Returns the same schedule with another first time.
  public Schedule from(Instant time) {
    Objects.requireNonNull(time, "the time is null");
    return new Schedule(time, Duration.ZERO, every, missed, missedMax);
  }

  /// Returns the same schedule, which does not fire for missed repeats. When several are due, the
  /// last of them fires if it is at most a second late.
  public Schedule skippingMissed() {
    return new Schedule(at, after, every, Missed.SKIP, 1);
  }

  /// Returns the same schedule, which fires for each missed repeat.
  ///
  /// @param missedMax for how many of them, the last ones, at most
  /// @throws IllegalArgumentException when that is less than 1 or more than [#MISSED_MAX]
  public Schedule makingUpFor(int missedMax) {
    return new Schedule(at, after, every, Missed.EACH, missedMax);
  }
}
