package stoa;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// How a transaction runs.
///
/// @param readOnly whether it may only read: then it never conflicts, and a call that is not an
///   accessor throws [UnsupportedOperationException]
/// @param at the snapshot that it reads; null for the present. Only a read-only transaction can
///   read the past
/// @param attemptsMax how often [Stoa#transact] runs the body before it throws [Aborted]
/// @param timeMax how long one attempt may take; a longer one fails with [DeadlineExceeded] at its
///   commit or its next call. The commit of one that has changed nothing may succeed later
/// @param totalTimeMax how long all attempts of [Stoa#transact] may take together. No attempt
///   begins after this time: [Stoa#transact] throws [Aborted]. An attempt that takes more than the
///   rest of this time fails with [DeadlineExceeded]. [Stoa#transact] waits for a commit that has
///   begun
public record TxOptions(
    boolean readOnly,
    @Nullable LogAddress at,
    int attemptsMax,
    Duration timeMax,
    Duration totalTimeMax) {
  /// Reads and writes the present, up to 1,000 times, for up to 10 seconds each and up to 30
  /// seconds altogether.
  public static final TxOptions STANDARD =
      new TxOptions(false, null, 1_000, Duration.ofSeconds(10), Duration.ofSeconds(30));

  public TxOptions {
    Objects.requireNonNull(timeMax, "timeMax");
    Objects.requireNonNull(totalTimeMax, "totalTimeMax");
    if (attemptsMax < 1) {
      throw new IllegalArgumentException(
          "attemptsMax is " + attemptsMax + "; a transaction is attempted once at least");
    }
    if (timeMax.isNegative() || timeMax.isZero()) {
      throw new IllegalArgumentException("timeMax is " + timeMax + "; it must be positive");
    }
    if (totalTimeMax.isNegative() || totalTimeMax.isZero()) {
      throw new IllegalArgumentException(
          "totalTimeMax is " + totalTimeMax + "; it must be positive");
    }
    if (at != null && !readOnly) {
      throw new IllegalArgumentException(
          "the past at " + at + " can only be read; use TxOptions.readingAt");
    }
  }

  /// Returns the options of a transaction that only reads, as of its beginning.
  public static TxOptions reading() {
    return new TxOptions(true, null, STANDARD.attemptsMax, STANDARD.timeMax, STANDARD.totalTimeMax);
  }

  /// Returns the options of a transaction that only reads, as of a log address.
  public static TxOptions readingAt(LogAddress address) {
    return new TxOptions(
        true, address, STANDARD.attemptsMax, STANDARD.timeMax, STANDARD.totalTimeMax);
  }

  /// Returns these options with another [#attemptsMax()].
  public TxOptions withAttemptsMax(int value) {
    return new TxOptions(readOnly, at, value, timeMax, totalTimeMax);
  }

  /// Returns these options with another [#timeMax()].
  public TxOptions withTimeMax(Duration value) {
    return new TxOptions(readOnly, at, attemptsMax, value, totalTimeMax);
  }

  /// Returns these options with another [#totalTimeMax()].
  public TxOptions withTotalTimeMax(Duration value) {
    return new TxOptions(readOnly, at, attemptsMax, timeMax, value);
  }
}
