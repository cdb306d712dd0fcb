package stoa.bench.report;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.bench.load.Samples;

/// One measure, and its limit or aim.
///
/// @param measure the measure's name
/// @param value the median over the rounds
/// @param unit the unit of both values
/// @param beside the limit or aim it is compared with, or null when it stands alone
/// @param besideValue that limit's value; not a number when there is none
/// @param samples the samples of the median, if the benchmark keeps them
public record Result(
    String measure,
    double value,
    String unit,
    @Nullable String beside,
    double besideValue,
    List<Double> samples) {

  /// Returns a measure that stands alone.
  public static Result alone(String measure, double value, String unit) {
    return new Result(measure, value, unit, null, Double.NaN, List.of());
  }

  /// Returns a measure that stands alone, from its samples.
  public static Result of(Samples samples, String measure, String unit) {
    return alone(measure, samples.median(measure), unit).with(samples.of(measure));
  }

  /// Returns this measure beside a limit.
  public Result beside(String limit, double limitValue) {
    return new Result(measure, value, unit, limit, limitValue, samples);
  }

  private Result with(List<Double> kept) {
    return new Result(measure, value, unit, beside, besideValue, kept);
  }

  /// Returns the ratio of the value to the limit's; not a number when it stands alone.
  public double ratio() {
    return value / besideValue;
  }
}
