package stoa.bench.plot;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Draws values as cumulative distributions, with exchanged axes: the horizontal one is the share
/// of the values, and the vertical one, which is logarithmic, the value that this share does not
/// exceed.
public final class Distribution {
  /// The label of the horizontal axis, for a word for the values.
  public static final String AXIS = "share of the %s that stay within it";

  private static final List<Double> SHARES =
      List.of(0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0);
  private static final List<Double> TICKS = List.of(0.01, 0.2, 0.4, 0.6, 0.8, 0.99);

  // Stands for less, since the vertical axis is logarithmic.
  private static final double LEAST = 0.001;

  private Distribution() {}

  /// Returns a panel with a series for each name.
  ///
  /// @param sorted the values of each name in ascending order
  public static Chart.Panel panel(Map<String, List<Double>> sorted) {
    var series = new ArrayList<Chart.Series>();
    sorted.forEach((name, values) -> {
      var points = new ArrayList<Chart.Point>();
      for (double share : SHARES) {
        double value = Math.max(LEAST, quantile(values, share));
        points.add(new Chart.Point(share, List.of(value)));
      }
      int number = series.size();
      var line = number == 0 ? Chart.Line.STRONG : Chart.Line.FULL;
      series.add(new Chart.Series(name, Lines.look(number, line), points));
    });
    var ticks = new ArrayList<Chart.Tick>();
    for (double share : TICKS) {
      ticks.add(new Chart.Tick(share, Math.round(share * 100) + " %"));
    }
    return new Chart.Panel("", ticks, series);
  }

  /// Returns the least value that a share of the values does not exceed; 0 when there are none.
  ///
  /// @param sorted the values in ascending order
  public static double quantile(List<Double> sorted, double share) {
    if (sorted.isEmpty()) return 0;
    int rank = (int) Math.ceil(share * sorted.size());
    return sorted.get(Math.max(0, rank - 1));
  }
}
