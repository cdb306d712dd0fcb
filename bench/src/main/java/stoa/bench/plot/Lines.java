package stoa.bench.plot;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import stoa.bench.load.Samples;

/// Draws samples as a panel of a figure: one series for each name, over places on a horizontal
/// axis.
public final class Lines {
  private static final List<String> COLOURS =
      List.of("#D55E00", "#0072B2", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#000000");
  private static final List<Chart.Shape> SHAPES =
      List.of(
          Chart.Shape.CIRCLE,
          Chart.Shape.SQUARE,
          Chart.Shape.UP,
          Chart.Shape.DIAMOND,
          Chart.Shape.DOWN,
          Chart.Shape.PENTAGON,
          Chart.Shape.CROSS);

  private Lines() {}

  /// The line of one name.
  ///
  /// @param name the text at its end
  /// @param measure returns the measure at a place of the axis
  public record Line(String name, Function<Integer, String> measure) {}

  /// Returns a panel with a logarithmic horizontal axis. It leaves out the places where a line has
  /// no measurement; it draws a sample of zero at `least`, since the vertical axis is logarithmic.
  ///
  /// @param least stands for zero
  public static Chart.Panel panel(
      String title, Samples samples, List<Integer> places, List<Line> lines, double least) {
    var ticks = new ArrayList<Chart.Tick>();
    for (int place : places) ticks.add(new Chart.Tick(x(place), "%,d".formatted(place)));
    var series = new ArrayList<Chart.Series>();
    for (int i = 0; i < lines.size(); i++) {
      Line line = lines.get(i);
      var points = new ArrayList<Chart.Point>();
      for (int place : places) {
        String measure = line.measure.apply(place);
        if (!samples.has(measure)) continue;
        points.add(
            new Chart.Point(
                x(place),
                samples.of(measure).stream().map(value -> Math.max(value, least)).toList()));
      }
      var look = look(i, i == 0 ? Chart.Line.STRONG : Chart.Line.FULL);
      if (!points.isEmpty()) series.add(new Chart.Series(line.name, look, points));
    }
    return new Chart.Panel(title, ticks, series);
  }

  /// Returns the appearance of the series with a number.
  public static Chart.Look look(int number, Chart.Line line) {
    return new Chart.Look(
        COLOURS.get(number % COLOURS.size()), SHAPES.get(number % SHAPES.size()), line);
  }

  private static double x(int place) {
    return Math.log(Math.max(place, 0.5));
  }
}
