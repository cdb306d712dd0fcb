package stoa.bench.report;

import java.util.List;
import java.util.Map;

/// The results of a benchmark, in the forms in which it shows and keeps them.
///
/// @param results every measure
/// @param table the same to read, as lines of text
/// @param figures drawings: SVG documents by file name
public record Outcome(List<Result> results, String table, Map<String, String> figures) {
  /// Returns the outcome of a benchmark without drawings, whose table lists the results.
  public static Outcome of(List<Result> results) {
    return new Outcome(results, Report.table(results), Map.of());
  }
}
