package stoa.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import stoa.bench.plot.Chart;

/// The findings of a benchmark's parts, in order: results in sections, aims with their outcomes,
/// and figures.
///
/// One thread uses it.
public final class Findings {
  /// The outcome of an aim when the run has other sizes than the aim.
  static final String NOT_JUDGED = "not judged: other sizes than the aim's";

  private record Section(String title, List<Result> results, String text) {}

  private final List<Section> sections = new ArrayList<>();
  private final List<List<String>> aims = new ArrayList<>();
  private final Map<String, String> figures = new LinkedHashMap<>();

  // Whether the sizes of the run are those of the aims.
  private final boolean judged;

  /// @param scale of the run
  /// @param full the scale of the aims
  public Findings(Record scale, Record full) {
    judged = scale.equals(full);
  }

  /// Adds results under a title.
  public void section(String title, List<Result> results) {
    sections.add(new Section(title, List.copyOf(results), Report.table(results)));
  }

  /// Adds a table of another shape under a title.
  ///
  /// @param text its lines
  public void matrix(String title, String text) {
    sections.add(new Section(title, List.of(), text));
  }

  /// Adds an aim that a value of at least the goal meets.
  public void atLeast(String aim, double goal, double seen) {
    aim(aim, seen, seen >= goal);
  }

  /// Adds an aim that a value of at most the limit meets.
  public void atMost(String aim, double limit, double seen) {
    aim(aim, seen, seen <= limit);
  }

  private void aim(String aim, double seen, boolean met) {
    String number = Math.abs(seen) < 0.1 ? "%.3f".formatted(seen) : Report.number(seen);
    aims.add(List.of(aim, number, verdict(judged, met)));
  }

  /// Returns the outcome of an aim.
  public static String verdict(boolean judged, boolean met) {
    if (!judged) return NOT_JUDGED;
    return met ? "met" : "missed";
  }

  /// Adds a figure.
  ///
  /// @param file the name of its file
  public void figure(String file, Chart chart) {
    figures.put(file, chart.svg());
  }

  /// Returns all findings.
  public Outcome outcome() {
    var text = new StringBuilder();
    var all = new ArrayList<Result>();
    for (Section section : sections) {
      text.append(section.title).append('\n').append(section.text).append('\n');
      all.addAll(section.results);
    }
    if (!aims.isEmpty()) {
      var rows = new ArrayList<List<String>>();
      rows.add(List.of("aim", "seen", ""));
      rows.addAll(aims);
      text.append("aims\n").append(Report.lines(rows, Set.of(1)));
    }
    return new Outcome(all, text.toString(), figures);
  }
}
