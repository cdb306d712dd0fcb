package stoa.stacksync.replay;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Batches as lines of text, for a process that has the same trace:
///
/// ```
/// commit NUMBER ITEM VERSION ITEM VERSION …
/// ```
///
/// Immutable.
final class Orders {
  private static final String COMMIT = "commit";

  private final Map<Long, List<TraceRow>> history = new HashMap<>();

  Orders(Trace trace) {
    for (var row : trace.rows()) {
      history.computeIfAbsent(row.item(), item -> new ArrayList<>()).add(row);
    }
  }

  /// A batch as a line.
  static String text(Batch batch) {
    var text = new StringBuilder(COMMIT).append(' ').append(batch.number);
    for (var row : batch.rows) {
      text.append(' ').append(row.item()).append(' ').append(row.version());
    }
    return text.toString();
  }

  /// The batch of a line.
  ///
  /// @throws IllegalArgumentException when the line names no batch of the trace
  Batch batch(String line) {
    var words = line.split(" ", -1);
    if (words.length < 4 || words.length % 2 != 0 || !words[0].equals(COMMIT)) {
      throw new IllegalArgumentException("\"" + line + "\" is no order to commit something");
    }
    var rows = new ArrayList<TraceRow>();
    var from = "";
    for (int i = 2; i < words.length; i += 2) {
      long item = Long.parseLong(words[i]);
      int version = Integer.parseInt(words[i + 1]);
      var versions = history.getOrDefault(item, List.of());
      if (version < 1 || version > versions.size()) {
        throw new IllegalArgumentException(
            "version " + version + " of item " + item + " is not in the trace");
      }
      from = versions.get(Math.max(0, version - 2)).workspace();
      rows.add(versions.get(version - 1));
    }
    var batch = new Batch(Integer.parseInt(words[1]), from, rows.getLast().workspace());
    batch.rows.addAll(rows);
    return batch;
  }
}
