package stoa.bench;

import org.jspecify.annotations.Nullable;

/// One measure, and what it stands beside.
///
/// @param measure what was measured
/// @param value the median over the rounds
/// @param unit the unit of both values
/// @param beside the limit or aim it is compared with, or null when it stands alone
/// @param besideValue that limit's value; not a number when there is none
public record Result(
    String measure, double value, String unit, @Nullable String beside, double besideValue) {

  /// A measure that stands alone.
  public static Result alone(String measure, double value, String unit) {
    return new Result(measure, value, unit, null, Double.NaN);
  }

  /// This measure beside a limit.
  public Result beside(String limit, double limitValue) {
    return new Result(measure, value, unit, limit, limitValue);
  }

  /// The value as a part of the limit's; not a number when it stands alone.
  public double ratio() {
    return value / besideValue;
  }
}
