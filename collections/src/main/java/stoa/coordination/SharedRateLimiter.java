package stoa.coordination;

import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import stoa.Accessor;
import stoa.Awaits;
import stoa.Call;
import stoa.Shared;
import stoa.spi.Forkable;

/// A number of permits in a time, for all programs together.
///
/// Create it with both: `stoa.create(SharedRateLimiter.class, name, 100, Duration.ofSeconds(1))`.
/// Opened otherwise it gives no permits. Permits come back evenly over the time, up to that number;
/// so callers get at most twice the number in any such time, and the number in the long run. Time
/// is that of the log.
///
/// A caller that waits looks about twice a second whether it gets its permits.
@Shared(name = "stoa.RateLimiter")
public class SharedRateLimiter implements Forkable<SharedRateLimiter> {
  /// The longest time in which callers get all permits.
  public static final Duration PER_MAX = Duration.ofDays(100_000_000_000L);

  // In nanoseconds.
  private static final BigInteger SECOND = BigInteger.valueOf(1_000_000_000);

  private int permits;
  private Duration per = Duration.ZERO;

  // When all permits are back.
  private Instant full = Instant.EPOCH;

  /// For the store: a limiter that gives no permits.
  protected SharedRateLimiter() {}

  /// Creates a limiter.
  ///
  /// @param permits how many callers get in the time; positive
  /// @param per the time; at least a microsecond for each permit, and at most [#PER_MAX]
  /// @throws IllegalArgumentException when one of them is too small, or the time too long
  public SharedRateLimiter(int permits, Duration per) {
    if (permits <= 0) throw new IllegalArgumentException(permits + " permits; at least 1");
    if (per.dividedBy(permits).compareTo(Duration.ofNanos(1_000)) < 0) {
      throw new IllegalArgumentException(
          permits + " permits in " + per + "; at most one in a microsecond");
    }
    if (per.compareTo(PER_MAX) > 0) {
      throw new IllegalArgumentException(
          "a time of " + per + "; at most " + PER_MAX + " (PER_MAX)");
    }
    this.permits = permits;
    this.per = per;
  }

  /// Waits until there are some permits, and takes them.
  ///
  /// @throws IllegalArgumentException when the number is not positive, or larger than that of all
  ///   permits
  @Awaits(inOrder = true)
  public void acquire(int count) {
    check(count);
    Instant now = Call.now();
    Call.await(() -> has(count, now));
    take(count, now);
  }

  /// Takes some permits if they are there; returns whether it did.
  ///
  /// @throws IllegalArgumentException as [#acquire]
  public boolean tryAcquire(int count) {
    check(count);
    Instant now = Call.now();
    if (!has(count, now)) return false;
    take(count, now);
    return true;
  }

  /// Returns the number of permits.
  @Accessor
  public int permits() {
    return permits;
  }

  /// Returns the time in which callers get that number.
  @Accessor
  public Duration per() {
    return per;
  }

  private boolean has(int count, Instant now) {
    return !after(count, now).isAfter(now.plus(per));
  }

  private void take(int count, Instant now) {
    full = after(count, now);
  }

  /// Returns when all permits are back, once some more are taken.
  private Instant after(int count, Instant now) {
    Instant from = full.isAfter(now) ? full : now;
    return from.plus(share(count));
  }

  /// Returns the time in which some of the permits come back. The time of all of them, as often as
  /// there are permits, may be longer than a [Duration].
  private Duration share(int count) {
    BigInteger nanos =
        BigInteger.valueOf(per.getSeconds())
            .multiply(SECOND)
            .add(BigInteger.valueOf(per.getNano()))
            .multiply(BigInteger.valueOf(count))
            .divide(BigInteger.valueOf(permits));
    BigInteger[] parts = nanos.divideAndRemainder(SECOND);
    return Duration.ofSeconds(parts[0].longValue(), parts[1].longValue());
  }

  private void check(int count) {
    if (count <= 0 || count > permits) {
      throw new IllegalArgumentException(
          count + " permits of a limiter of " + permits + "; ask for 1 to that number");
    }
  }

  @Override
  public SharedRateLimiter fork() {
    var copy = new SharedRateLimiter();
    copy.permits = permits;
    copy.per = per;
    copy.full = full;
    return copy;
  }
}
