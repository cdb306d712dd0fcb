package stoa.stacksync.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import stoa.Stoa;
import stoa.stacksync.CommitInfo;
import stoa.stacksync.Design;
import stoa.stacksync.ItemChange;
import stoa.stacksync.ItemState;
import stoa.stacksync.Services;
import stoa.stacksync.User;
import stoa.stacksync.Workspace;

/// Replays on the embedded engine.
class ReplayTest {
  private static final Trace TRACE = Trace.builtIn().firstRequests(300);

  @ParameterizedTest
  @EnumSource
  void aStoreHoldsExactlyTheTraceAfterAReplay(Design design) throws InterruptedException {
    try (var store = Stoa.open("memory:")) {
      var report = new Replay(store, TRACE, design, 4, Observer.none()).run();
      assertEquals(0, report.changesBefore());
      assertEquals(TRACE.rows().size(), report.changes());
      assertEquals(
          TRACE.rows().stream().filter(row -> row.versionAskedFor() < row.version()).count(),
          report.conflicts());
      assertEquals(List.of(), Verification.of(store, TRACE).problems());
      assertEquals(TRACE.rows().size(), Verification.of(store, TRACE).versions());
    }
  }

  @ParameterizedTest
  @EnumSource
  void aReplayedTraceIsThereAfterReopeningAndNothingIsLeftToDo(
      Design design, @TempDir Path directory) throws InterruptedException {
    try (var store = Stoa.open("file:" + directory)) {
      new Replay(store, TRACE, design, 3, Observer.none()).run();
    }
    try (var store = Stoa.open("file:" + directory)) {
      assertEquals(List.of(), Verification.of(store, TRACE).problems());
      var report = new Replay(store, TRACE, design, 3, Observer.none()).run();
      assertEquals(TRACE.rows().size(), report.changesBefore());
      assertEquals(0, report.changes());
      assertEquals(0, report.latencies().count());
      assertEquals(List.of(), Verification.of(store, TRACE).problems());
    }
  }

  @ParameterizedTest
  @EnumSource
  void anInterruptedReplayIsContinuedWithAnyNumberOfClients(Design design, @TempDir Path directory)
      throws InterruptedException {
    int some = TRACE.rows().size() / 5;
    int before = 0;
    for (int clients : List.of(8, 2, 5)) {
      try (var store = Stoa.open("file:" + directory)) {
        var replay = new Replay(store, TRACE, design, clients, new Interruption(some));
        assertThrows(IllegalStateException.class, replay::run);
        assertFalse(Verification.of(store, TRACE).holds());
        int now = StoredItem.all(store).stream().mapToInt(i -> i.item().versions().size()).sum();
        assertTrue(now >= before + some, before + " versions, then " + now);
        before = now;
      }
    }
    try (var store = Stoa.open("file:" + directory)) {
      var report = new Replay(store, TRACE, design, 4, Observer.none()).run();
      assertEquals(before, report.changesBefore());
      assertEquals(List.of(), Verification.of(store, TRACE).problems());
    }
  }

  @ParameterizedTest
  @EnumSource
  void theVerificationSeesWhatTheTraceDoesNotSay(Design design) throws InterruptedException {
    var trace = Trace.builtIn().firstRequests(20);
    try (var store = Stoa.open("memory:")) {
      new Replay(store, trace, design, 2, Observer.none()).run();
      var row = trace.rows().getLast();
      var service = Services.open(store, "test", design);
      var metadata = TraceIds.metadata(row);
      var user = TraceIds.user(row.user());
      var device = TraceIds.device(row.device());
      var workspace = TraceIds.workspace(row.workspace());

      if (design != Design.FACADE_ALONE) {
        var owner = TraceIds.user(Recount.of(trace).owners().getOrDefault(row.workspace(), -1));
        store.get(User.class, owner).adjust(1);
        assertEquals(1, Verification.of(store, trace).problemCount());
        store.get(User.class, owner).adjust(-1);
      }
      assertTrue(Verification.of(store, trace).holds());

      var again = List.of(new ItemChange(row.item(), row.version() + 1, metadata));
      assertEquals(
          List.of(new CommitInfo.Committed(row.item(), row.version() + 1)),
          service.doCommit(user, device, workspace, again));
      assertEquals(2, Verification.of(store, trace).problemCount());

      var other = List.of(new ItemChange(1_000_000, 1, metadata));
      service.doCommit(user, device, workspace, other);
      assertFalse(Verification.of(store, trace).holds());

      var longer = Trace.builtIn().firstRequests(21);
      assertFalse(Verification.of(store, longer).holds());
    }
  }

  @Test
  void aStoreStaysInTheDesignInWhichItWasBegun() throws InterruptedException {
    var trace = Trace.builtIn().firstRequests(5);
    try (var store = Stoa.open("memory:")) {
      new Replay(store, trace, Design.EVERYTHING_SHARED, 1, Observer.none()).run();
      var other = new Replay(store, trace, Design.ITEMS_EMBEDDED, 1, Observer.none());
      var refusal = assertThrows(IllegalArgumentException.class, other::run);
      assertTrue(
          String.valueOf(refusal.getMessage())
              .contains("in the design everything-shared, not items-embedded"));
      assertTrue(Verification.of(store, trace).holds());
    }
  }

  /// One client, so that the order of commits is that of the trace.
  @ParameterizedTest
  @EnumSource(names = "FACADE_ALONE", mode = EnumSource.Mode.EXCLUDE)
  void aWorkspaceIsReadAsItWasAfterEachCommit(Design design) throws InterruptedException {
    var trace = Trace.builtIn().firstRequests(80);
    try (var store = Stoa.open("memory:")) {
      var workspace = store.get(Workspace.class, TraceIds.workspace("osx"));
      var expected = new LinkedHashMap<Long, Map<Long, Integer>>();
      var current = new HashMap<Long, Integer>();
      var watch =
          new Observer() {
            @Override
            public void found(Map<Long, Integer> stored, int changesLeft) {}

            @Override
            public void acknowledged(List<TraceRow> changes) {
              for (var row : changes) {
                if (row.workspace().equals("osx")) current.put(row.item(), row.version());
                else current.remove(row.item());
              }
              expected.put(store.history(workspace).version(), Map.copyOf(current));
            }
          };
      new Replay(store, trace, design, 1, watch).run();
      assertTrue(expected.size() > 20, expected.size() + " versions");
      expected.forEach((version, items) -> {
        var then = store.history(workspace).at(version);
        assertEquals(items, newest(then.changes(Long.MIN_VALUE, 1_000)));
      });
    }
  }

  private static Map<Long, Integer> newest(List<ItemState> states) {
    var newest = new HashMap<Long, Integer>();
    for (var state : states) newest.put(state.item(), state.latest().version());
    return newest;
  }

  /// Makes each client fail once so many changes were acknowledged.
  private static final class Interruption implements Observer {
    private final AtomicInteger left;

    Interruption(int changes) {
      left = new AtomicInteger(changes);
    }

    @Override
    public void found(Map<Long, Integer> stored, int changesLeft) {}

    @Override
    public void acknowledged(List<TraceRow> changes) {
      if (left.addAndGet(-changes.size()) <= 0) throw new IllegalStateException("interrupted");
    }
  }
}
