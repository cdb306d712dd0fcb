package stoa.demo;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import stoa.stacksync.replay.TraceRow;

/// A report of a replaying process, in one line of its output:
///
/// ```
/// opening                         the store is about to be opened
/// found ITEM VERSION              the newest version that the store has of an item
/// ready                           all found are listed; commits begin
/// ack ITEM VERSION ITEM VERSION … these were acknowledged
/// finished                        everything is committed, the store is closed
/// ```
final class Report {
  static final String OPENING = "opening";
  static final String READY = "ready";
  static final String FINISHED = "finished";
  private static final String FOUND = "found ";
  private static final String ACKNOWLEDGED = "ack ";

  private Report() {}

  static String found(long item, int version) {
    return FOUND + item + " " + version;
  }

  static String acknowledged(List<TraceRow> changes) {
    return changes.stream()
        .map(row -> row.item() + " " + row.version())
        .collect(Collectors.joining(" ", ACKNOWLEDGED, ""));
  }

  /// The items and versions of a line about found ones; empty when it is another line.
  static Optional<Map<Long, Integer>> asFound(String line) {
    return pairs(line, FOUND);
  }

  /// The items and versions of a line about acknowledged ones; empty when it is another line.
  static Optional<Map<Long, Integer>> asAcknowledged(String line) {
    return pairs(line, ACKNOWLEDGED);
  }

  private static Optional<Map<Long, Integer>> pairs(String line, String beginning) {
    if (!line.startsWith(beginning)) return Optional.empty();
    var words = line.substring(beginning.length()).split(" ", -1);
    var pairs = new HashMap<Long, Integer>();
    for (int i = 0; i + 1 < words.length; i += 2) {
      pairs.put(Long.parseLong(words[i]), Integer.parseInt(words[i + 1]));
    }
    return Optional.of(pairs);
  }
}
