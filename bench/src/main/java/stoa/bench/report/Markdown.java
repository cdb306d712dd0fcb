package stoa.bench.report;

import java.util.List;
import java.util.stream.Collectors;

/// Tables in Markdown, which are also readable as they are.
public final class Markdown {
  private Markdown() {}

  /// Returns a table under a title; the first row has the headings.
  public static String table(String title, List<List<String>> rows) {
    int columns = rows.getFirst().size();
    int[] widths = new int[columns];
    for (List<String> row : rows) {
      for (int i = 0; i < columns; i++) widths[i] = Math.max(widths[i], row.get(i).length());
    }
    var text = new StringBuilder("**").append(title).append("**\n\n");
    for (int r = 0; r < rows.size(); r++) {
      text.append(line(rows.get(r), widths)).append('\n');
      if (r == 0) text.append(rule(widths)).append('\n');
    }
    return text.append('\n').toString();
  }

  private static String line(List<String> row, int[] widths) {
    var text = new StringBuilder("|");
    for (int i = 0; i < widths.length; i++) {
      String cell = row.get(i);
      String pad = " ".repeat(widths[i] - cell.length());
      text.append(' ').append(i == 0 ? cell + pad : pad + cell).append(" |");
    }
    return text.toString();
  }

  private static String rule(int[] widths) {
    return java.util.stream.IntStream.range(0, widths.length)
        .mapToObj(i -> (i == 0 ? "-" : "") + "-".repeat(widths[i] + 1) + (i == 0 ? "" : ":"))
        .collect(Collectors.joining("|", "|", "|"));
  }
}
