package stoa.demo;

import java.io.PrintWriter;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import stoa.History;
import stoa.Stoa;
import stoa.programs.Words;
import stoa.stacksync.ItemState;
import stoa.stacksync.Status;
import stoa.stacksync.Workspace;
import stoa.stacksync.replay.Trace;
import stoa.stacksync.replay.TraceIds;
import stoa.stacksync.replay.TraceRow;

/// Reads the busiest workspace of a trace as it was in the middle of its history.
final class TimeTravel {
  private static final int FILES_SHOWN = 5;
  private static final int PAGE = 500;
  private static final int ENTRIES_READ = 64;

  private final PrintWriter out;
  private final Stoa store;
  private final Trace trace;

  TimeTravel(PrintWriter out, Stoa store, Trace trace) {
    this.out = out;
    this.store = store;
    this.trace = trace;
  }

  void show() {
    var name =
        trace.rows().stream()
            .collect(Collectors.groupingBy(TraceRow::workspace, Collectors.counting()))
            .entrySet()
            .stream()
            .max(
                Map.Entry.<String, Long>comparingByValue()
                    .thenComparing(Map.Entry.comparingByKey()))
            .map(Map.Entry::getKey);
    var found = name.flatMap(busiest -> store.find(Workspace.class, TraceIds.workspace(busiest)));
    if (found.isEmpty()) return;
    var workspace = found.get();
    History<Workspace> history = store.history(workspace);
    long middle = call(history, Math.max(history.oldest(), history.version() / 2));
    var then = items(history.at(middle));
    var now = items(workspace);
    Demo.line(
        out,
        "the past",
        "workspace \"%s\" at version %s of %s, on %s, had %s; now it has %s"
            .formatted(
                name.get(),
                Words.count(middle),
                Words.count(history.version()),
                day(then),
                Words.count(fileCount(then), "file"),
                Words.count(fileCount(now))));
    for (var state : changed(then, now)) {
      var later = now.get(state.item());
      out.printf(
          "            %-24s then %-26s now %s%n",
          state.latest().metadata().name(), describe(state), describe(later));
    }
    out.flush();
  }

  /// The version of a call, at or soon after the given one. Between the calls of an object's
  /// history stand the answers that it got from others.
  private static long call(History<Workspace> history, long version) {
    long last = Math.min(history.version(), version + ENTRIES_READ);
    for (var entry : history.entries(version, last)) {
      if (entry.event() instanceof History.Event.Called) return entry.version();
    }
    return history.version();
  }

  private static Map<Long, ItemState> items(Workspace workspace) {
    var items = new LinkedHashMap<Long, ItemState>();
    var page = workspace.changes(Long.MIN_VALUE, PAGE);
    while (!page.isEmpty()) {
      for (var state : page) items.put(state.item(), state);
      page = workspace.changes(page.getLast().item(), PAGE);
    }
    return items;
  }

  /// Files of then that are not the same now: those with the most changes since.
  private static List<ItemState> changed(Map<Long, ItemState> then, Map<Long, ItemState> now) {
    var changed = new ArrayList<ItemState>();
    for (var state : then.values()) {
      var later = now.get(state.item());
      if (exists(state) && !state.equals(later)) changed.add(state);
    }
    changed.sort(
        Comparator.comparingInt(
                (ItemState state) -> state.latest().version() - version(now.get(state.item())))
            .thenComparingLong(ItemState::item));
    return changed.subList(0, Math.min(FILES_SHOWN, changed.size()));
  }

  private static int version(@Nullable ItemState state) {
    return state == null ? 0 : state.latest().version();
  }

  private static String describe(@Nullable ItemState state) {
    if (state == null) return "elsewhere";
    if (!exists(state)) return "deleted";
    var latest = state.latest();
    return "version %d, %s".formatted(latest.version(), Words.bytes(latest.metadata().sizeBytes()));
  }

  private static long fileCount(Map<Long, ItemState> items) {
    return items.values().stream().filter(TimeTravel::exists).count();
  }

  private static boolean exists(ItemState state) {
    return state.latest().metadata().status() != Status.DELETED;
  }

  private static LocalDate day(Map<Long, ItemState> items) {
    return items.values().stream()
        .map(state -> state.latest().metadata().modifiedAt())
        .max(Comparator.naturalOrder())
        .orElse(Instant.EPOCH)
        .atOffset(ZoneOffset.UTC)
        .toLocalDate();
  }
}
