package stoa.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.BiFunction;

/// Tables whose rows and columns are two sizes, as in papers. Stateless.
public final class Matrix {
  private Matrix() {}

  /// Returns the lines of a table.
  public static <R, C> String of(
      String rowName,
      List<R> rows,
      String columnName,
      List<C> columns,
      BiFunction<R, C, String> cell) {
    List<List<String>> lines = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of(rowName + " \\ " + columnName));
    columns.forEach(column -> head.add("" + column));
    lines.add(head);
    for (R row : rows) {
      List<String> line = new ArrayList<>(List.of("" + row));
      columns.forEach(column -> line.add(cell.apply(row, column)));
      lines.add(line);
    }
    return Report.lines(lines, Set.of());
  }

  /// Formats milliseconds with about two digits.
  public static String millis(double millis) {
    return String.format(
        Locale.ROOT, millis < 0.995 ? "%.2f" : millis < 9.95 ? "%.1f" : "%.0f", millis);
  }
}
