package stoa.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/// Shows results: as a table to read, or as JSON.
public final class Report {
  private Report() {}

  /// Returns the results as a table, one line each below a line of headings.
  public static String table(List<Result> results) {
    var rows = new ArrayList<List<String>>();
    rows.add(List.of("measure", "value", "unit", "beside", "value", "ratio"));
    for (Result result : results) {
      String beside = result.beside();
      rows.add(
          List.of(
              result.measure(),
              number(result.value()),
              result.unit(),
              beside == null ? "" : beside,
              beside == null ? "" : number(result.besideValue()),
              beside == null ? "" : String.format(Locale.ROOT, "%.2f", result.ratio())));
    }
    return lines(rows, Set.of(1, 4, 5));
  }

  /// Returns rows as lines of text, each column as wide as necessary.
  ///
  /// @param right the columns that are aligned to the right
  public static String lines(List<List<String>> rows, Set<Integer> right) {
    var text = new StringBuilder();
    for (List<String> row : rows) {
      var line = new StringBuilder();
      for (int column = 0; column < row.size(); column++) {
        int width = width(rows, column);
        line.append(
            ("%" + (right.contains(column) ? "" : "-") + width + "s  ").formatted(row.get(column)));
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }

  /// Returns the results as a JSON list of `{measure, value, unit, beside, besideValue, ratio,
  /// samples}`; `beside` to `ratio` are null for a measure that stands alone.
  public static String json(List<Result> results) {
    var text = new StringBuilder("[");
    for (Result result : results) {
      String beside = result.beside();
      text.append(text.length() == 1 ? "\n" : ",\n")
          .append("  {\"measure\": ")
          .append(quoted(result.measure()))
          .append(", \"value\": ")
          .append(plain(result.value()))
          .append(", \"unit\": ")
          .append(quoted(result.unit()))
          .append(", \"beside\": ")
          .append(beside == null ? "null" : quoted(beside))
          .append(", \"besideValue\": ")
          .append(plain(result.besideValue()))
          .append(", \"ratio\": ")
          .append(plain(result.ratio()))
          .append(", \"samples\": ")
          .append(
              result.samples().stream()
                  .map(Report::plain)
                  .collect(Collectors.joining(", ", "[", "]")))
          .append('}');
    }
    return text.append("\n]\n").toString();
  }

  private static int width(List<List<String>> rows, int column) {
    return rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(1);
  }

  /// Formats a number with about three digits.
  public static String number(double value) {
    if (Math.abs(value) >= 100) return String.format(Locale.ROOT, "%,.0f", value);
    return String.format(Locale.ROOT, Math.abs(value) >= 10 ? "%.1f" : "%.2f", value);
  }

  private static String plain(double value) {
    return Double.isFinite(value) ? Double.toString(value) : "null";
  }

  private static String quoted(String text) {
    var quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') quoted.append('\\');
      if (c < ' ') quoted.append("\\u%04x".formatted((int) c));
      else quoted.append(c);
    }
    return quoted.append('"').toString();
  }
}
