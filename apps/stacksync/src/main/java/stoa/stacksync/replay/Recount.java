package stoa.stacksync.replay;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import stoa.stacksync.Status;

/// The correct contents of a store after all commits of a trace, counted from the rows alone.
///
/// It shares no code with the rules by which the service commits: each row simply replaces the one
/// before it.
///
/// @param newest the last row of each item
/// @param owners the owner of each workspace: the user of its first row
/// @param usedBytes the bytes of all files that are not deleted, by owner
public record Recount(
    Map<Long, TraceRow> newest, Map<String, Integer> owners, Map<Integer, Long> usedBytes) {

  /// Counts a trace.
  public static Recount of(Trace trace) {
    var newest = new TreeMap<Long, TraceRow>();
    var owners = new LinkedHashMap<String, Integer>();
    for (var row : trace.rows()) {
      newest.put(row.item(), row);
      owners.putIfAbsent(row.workspace(), row.user());
    }
    var usedBytes = new TreeMap<Integer, Long>();
    owners.values().forEach(owner -> usedBytes.put(owner, 0L));
    for (var row : newest.values()) {
      if (row.status() == Status.DELETED) continue;
      usedBytes.merge(Objects.requireNonNull(owners.get(row.workspace())), row.size(), Long::sum);
    }
    return new Recount(newest, owners, usedBytes);
  }
}
