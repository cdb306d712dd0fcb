package stoa.bench.plot;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.DoubleUnaryOperator;
import stoa.bench.load.Samples;

/// A figure of measurements: panels side by side, with one logarithmic vertical axis for all.
///
/// Every sample is a point; a line goes through the medians. Series differ in the shape of their
/// points and in colors that the color-blind can tell apart (Okabe and Ito); their names are at
/// their ends.
///
/// @param title the title
/// @param note the method of measurement, in a line below the title
/// @param yLabel the quantity of the vertical axis, with its unit
/// @param xLabel the quantity of the horizontal axes, with its unit
/// @param panels from left to right
public record Chart(String title, String note, String yLabel, String xLabel, List<Panel> panels) {
  /// One panel.
  ///
  /// @param title the difference to the other panels
  /// @param ticks the marks of the horizontal axis
  /// @param series the series; a later one is drawn over an earlier one
  public record Panel(String title, List<Tick> ticks, List<Series> series) {}

  /// A mark on a horizontal axis.
  ///
  /// @param at its place, in units of the axis
  /// @param label the text there; line feeds divide several lines
  public record Tick(double at, String label) {}

  /// The measurements under one name.
  ///
  /// @param name the text at its end
  /// @param look its appearance
  /// @param points from left to right
  public record Series(String name, Look look, List<Point> points) {}

  /// Samples at one place of the horizontal axis; their median counts.
  public record Point(double x, List<Double> samples) {
    public double median() {
      return Samples.median(samples);
    }
  }

  /// The appearance of a series.
  ///
  /// @param colour as in CSS
  /// @param shape of its points
  /// @param line the connection of the medians
  public record Look(String colour, Shape shape, Line line) {}

  /// The shape of a point.
  public enum Shape {
    CIRCLE,
    SQUARE,
    DIAMOND,
    UP,
    DOWN,
    PENTAGON,
    CROSS
  }

  /// The connection of medians.
  public enum Line {
    FULL,
    STRONG,
    DASHED,
    /// None; each median is a short bar.
    NONE
  }

  private static final int LEFT = 78;
  private static final int NAMES_MIN = 110; // after a panel
  private static final int NAME_LETTER = 8; // the width of a letter of a series' name, at most
  private static final int SCALE = 46; // before a panel that is not the first
  private static final int TOP = 84;
  private static final int BOTTOM = 48; // without the labels of ticks
  private static final int TICK_LINE = 14;
  private static final int HEIGHT = 330; // of a panel
  private static final int LABEL_STEP = 15;
  private static final int NOTE_LETTER = 7; // the width of a letter of the note, at most
  private static final String INK = "#222222";
  private static final String SOFT = "#666666";
  private static final String GRID = "#e3e3e3";
  private static final String MINOR_GRID = "#f2f2f2";

  /// Returns the figure as an SVG document.
  public String svg() {
    int widest = panels.stream().mapToInt(panel -> panel.ticks.size()).max().orElse(1);
    int panelWidth = Math.max(300, widest * (panels.size() == 1 ? 92 : 58));
    int longest =
        panels.stream()
            .flatMap(panel -> panel.series.stream())
            .mapToInt(series -> series.name.length())
            .max()
            .orElse(0);
    int step = panelWidth + Math.max(NAMES_MIN, 24 + NAME_LETTER * longest) + SCALE;
    int width = Math.max(LEFT + panels.size() * step - SCALE, LEFT + NOTE_LETTER * note.length());
    int tickLines = 1;
    for (Panel panel : panels) {
      for (Tick tick : panel.ticks) {
        tickLines = Math.max(tickLines, (int) tick.label.lines().count());
      }
    }
    int height = TOP + HEIGHT + BOTTOM + TICK_LINE * tickLines;
    var svg = new Svg(width, height, title);
    svg.text(new Svg.Place(LEFT, 26), title, new Svg.Type(17, INK, "start", "bold"));
    svg.text(new Svg.Place(LEFT, 46), note, new Svg.Type(12, SOFT, "start", "normal"));
    svg.turned(
        new Svg.Place(20, TOP + HEIGHT / 2.0),
        yLabel,
        new Svg.Type(13, INK, "middle", "normal"),
        -90);
    var range = Range.of(this);
    double left = LEFT;
    for (Panel panel : panels) {
      new Drawing(svg, panel, left, panelWidth, range).draw(xLabel, height - 12);
      left += step;
    }
    return svg.toString();
  }

  /// The vertical axis: its ends, powers of ten times 1, 2 or 5.
  private record Range(double low, double high) {
    static Range of(Chart chart) {
      double[] values =
          chart.panels.stream()
              .flatMap(panel -> panel.series.stream())
              .flatMap(series -> series.points.stream())
              .flatMap(point -> point.samples.stream())
              .mapToDouble(Double::doubleValue)
              .filter(value -> value > 0)
              .sorted()
              .toArray();
      if (values.length == 0) return new Range(1, 10);
      double low = step(values[0] * 0.9, -1);
      double high = step(values[values.length - 1] * 1.1, 1);
      return new Range(low, Math.max(high, low * 10));
    }

    /// Returns the next round number below (-1) or above (1).
    private static double step(double value, int direction) {
      double power = Math.pow(10, Math.floor(Math.log10(value)));
      List<Double> round = List.of(power, 2 * power, 5 * power, 10 * power);
      return direction < 0
          ? round.stream().filter(r -> r <= value).reduce(power, (_, r) -> r)
          : round.stream().filter(r -> r >= value).findFirst().orElse(10 * power);
    }

    DoubleUnaryOperator place(double top) {
      double span = Math.log(high / low);
      return value -> top + HEIGHT * (1 - Math.log(value / low) / span);
    }

    /// Returns the values with a grid line.
    List<Double> lines() {
      var lines = new ArrayList<Double>();
      for (double power = Math.pow(10, Math.floor(Math.log10(low))); power <= high; power *= 10) {
        for (int digit = 1; digit <= 9; digit++) {
          double value = digit * power;
          if (value >= low * 0.999 && value <= high * 1.001) lines.add(value);
        }
      }
      return lines;
    }

    static boolean labelled(double value) {
      double power = Math.pow(10, Math.floor(Math.log10(value) + 1e-9));
      long digit = Math.round(value / power);
      return digit == 1 || digit == 2 || digit == 5;
    }
  }

  /// One panel on its way into the document.
  private record Drawing(Svg svg, Panel panel, double left, double width, Range range) {
    void draw(String xLabel, double xLabelAt) {
      DoubleUnaryOperator y = range.place(TOP);
      for (double value : range.lines()) {
        boolean labelled = Range.labelled(value);
        double at = y.applyAsDouble(value);
        svg.line(
            List.of(new Svg.Place(left, at), new Svg.Place(left + width, at)),
            new Svg.Stroke(labelled ? GRID : MINOR_GRID, 1));
        if (labelled) {
          svg.text(
              new Svg.Place(left - 7, at + 4),
              label(value),
              new Svg.Type(11.5, SOFT, "end", "normal"));
        }
      }
      svg.line(
          List.of(
              new Svg.Place(left, TOP),
              new Svg.Place(left, TOP + HEIGHT),
              new Svg.Place(left + width, TOP + HEIGHT)),
          new Svg.Stroke(SOFT, 1));
      svg.text(
          new Svg.Place(left + width / 2, TOP - 12),
          panel.title,
          new Svg.Type(13.5, INK, "middle", "bold"));
      for (Tick tick : panel.ticks) {
        double x = x(tick.at);
        svg.line(
            List.of(new Svg.Place(x, TOP + HEIGHT), new Svg.Place(x, TOP + HEIGHT + 5)),
            new Svg.Stroke(SOFT, 1));
        int row = 0;
        for (String line : tick.label.lines().toList()) {
          svg.text(
              new Svg.Place(x, TOP + HEIGHT + 19 + TICK_LINE * row++),
              line,
              new Svg.Type(11.5, SOFT, "middle", "normal"));
        }
      }
      svg.text(
          new Svg.Place(left + width / 2, xLabelAt),
          xLabel,
          new Svg.Type(13, INK, "middle", "normal"));
      for (Series series : panel.series) draw(series, y);
      names(y);
    }

    private void draw(Series series, DoubleUnaryOperator y) {
      Look look = series.look;
      var medians = new ArrayList<Svg.Place>();
      for (Point point : series.points) {
        medians.add(new Svg.Place(x(point.x), y.applyAsDouble(point.median())));
      }
      switch (look.line) {
        case FULL -> svg.line(medians, new Svg.Stroke(look.colour, 1.8));
        case STRONG -> svg.line(medians, new Svg.Stroke(look.colour, 3.2));
        case DASHED -> svg.line(medians, new Svg.Stroke(look.colour, 1.6, "6 4"));
        case NONE -> {
          for (Svg.Place median : medians) {
            svg.line(
                List.of(
                    new Svg.Place(median.x() - 11, median.y()),
                    new Svg.Place(median.x() + 11, median.y())),
                new Svg.Stroke(look.colour, 3));
          }
        }
      }
      for (Point point : series.points) {
        for (double sample : point.samples) {
          mark(look, new Svg.Place(x(point.x), y.applyAsDouble(sample)), 4, 0.6);
        }
      }
    }

    /// Writes the names of series after their ends, moved apart where they would overlap.
    private void names(DoubleUnaryOperator y) {
      record End(Series series, double at) {}
      var ends =
          panel.series.stream()
              .filter(series -> !series.points.isEmpty())
              .map(series -> new End(series, y.applyAsDouble(series.points.getLast().median())))
              .sorted(Comparator.comparingDouble(End::at))
              .toList();
      double[] places = ends.stream().mapToDouble(End::at).toArray();
      for (int i = 1; i < places.length; i++) {
        places[i] = Math.max(places[i], places[i - 1] + LABEL_STEP);
      }
      double over = places.length == 0 ? 0 : places[places.length - 1] - (TOP + HEIGHT);
      if (over > 0) {
        places[places.length - 1] -= over;
        for (int i = places.length - 2; i >= 0; i--) {
          places[i] = Math.min(places[i], places[i + 1] - LABEL_STEP);
        }
      }
      for (int i = 0; i < places.length; i++) {
        End end = ends.get(i);
        double from = x(end.series.points.getLast().x);
        double to = left + width + 12;
        svg.line(
            List.of(new Svg.Place(from + 5, end.at), new Svg.Place(to - 6, places[i])),
            new Svg.Stroke(end.series.look.colour, 0.7));
        mark(end.series.look, new Svg.Place(to, places[i]), 4.5, 1);
        svg.text(
            new Svg.Place(to + 9, places[i] + 4),
            end.series.name,
            new Svg.Type(
                12, INK, "start", end.series.look.line == Line.STRONG ? "bold" : "normal"));
      }
    }

    private void mark(Look look, Svg.Place at, double r, double opacity) {
      double x = at.x();
      double y = at.y();
      String colour = look.colour;
      switch (look.shape) {
        case CIRCLE -> svg.circle(at, r, colour, opacity);
        case SQUARE ->
            svg.area(corners(x, y, r * 0.9, -1, -1, 1, -1, 1, 1, -1, 1), colour, opacity);
        case DIAMOND ->
            svg.area(corners(x, y, r * 1.25, 0, -1, 1, 0, 0, 1, -1, 0), colour, opacity);
        case UP -> svg.area(corners(x, y, r * 1.1, 0, -1, 1, 0.8, -1, 0.8), colour, opacity);
        case PENTAGON ->
            svg.area(
                corners(x, y, r * 1.15, 0, -1, 0.95, -0.31, 0.59, 0.81, -0.59, 0.81, -0.95, -0.31),
                colour,
                opacity);
        case DOWN -> svg.area(corners(x, y, r * 1.1, 0, 1, 1, -0.8, -1, -0.8), colour, opacity);
        case CROSS -> {
          svg.line(corners(x, y, r * 0.9, -1, -1, 1, 1), new Svg.Stroke(colour, 1.8));
          svg.line(corners(x, y, r * 0.9, -1, 1, 1, -1), new Svg.Stroke(colour, 1.8));
        }
      }
    }

    private static List<Svg.Place> corners(double x, double y, double r, double... offsets) {
      var corners = new ArrayList<Svg.Place>();
      for (int i = 0; i < offsets.length; i += 2) {
        corners.add(new Svg.Place(x + r * offsets[i], y + r * offsets[i + 1]));
      }
      return corners;
    }

    /// Returns the place on the page of a place on the axis, half a step away from both ends.
    private double x(double at) {
      double first = panel.ticks.getFirst().at;
      double last = panel.ticks.getLast().at;
      double margin = width / (2.0 * panel.ticks.size());
      if (last == first) return left + width / 2;
      return left + margin + (width - 2 * margin) * (at - first) / (last - first);
    }

    private static String label(double value) {
      Optional<String> large =
          value >= 999_999
              ? Optional.of("%.0f M".formatted(value / 1e6))
              : value >= 9_999 ? Optional.of("%.0f K".formatted(value / 1e3)) : Optional.empty();
      return large.orElseGet(() ->
          value >= 0.999
              ? String.format(Locale.ROOT, "%,.0f", value)
              : String.format(Locale.ROOT, "%.2g", value));
    }
  }
}
