package stoa.stacksync;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import stoa.Snapshot;
import stoa.Stoa;

/// Moves between workspaces of different owners, beside readers of snapshots.
class MovesAreOneStepTest {
  private static final int ITEMS = 6;
  private static final int MOVES = 20;
  private static final int MOVERS = 2;
  private static final int READERS = 2;
  private static final List<UUID> USERS = List.of(new UUID(1, 1), new UUID(1, 2));
  private static final List<UUID> DEVICES = List.of(new UUID(2, 1), new UUID(2, 2));
  private static final List<UUID> WORKSPACES = List.of(new UUID(3, 1), new UUID(3, 2));

  /// What a reader sees at one moment.
  private record Seen(Map<Long, Integer> places, List<Long> heldBytes, List<Long> usedBytes) {}

  @ParameterizedTest
  @EnumSource
  void aSnapshotHasEachFileInOneWorkspaceAndQuotasAddUp(Design design) throws Exception {
    try (var stoa = Stoa.open("memory:")) {
      populate(Services.open(stoa, "begin", design));
      var over = new AtomicBoolean();
      try (ExecutorService threads = Executors.newCachedThreadPool()) {
        var readers = new ArrayList<Future<Boolean>>();
        for (int i = 0; i < READERS; i++) {
          Callable<Boolean> read =
              () -> {
                do check(stoa, design);
                while (!over.get());
                return true;
              };
          readers.add(threads.submit(read));
        }
        var movers = new ArrayList<Future<Boolean>>();
        for (int i = 0; i < MOVERS; i++) {
          int mover = i;
          movers.add(
              threads.submit(() -> move(Services.open(stoa, "mover " + mover, design), mover)));
        }
        try {
          for (var mover : movers) assertEquals(true, mover.get());
        } finally {
          over.set(true);
        }
        for (var reader : readers) assertEquals(true, reader.get());
      }
      check(stoa, design);
    }
  }

  private static void populate(SyncService service) {
    for (int i = 0; i < USERS.size(); i++) {
      service.addUser(USERS.get(i), "user " + i, "user" + i + "@example.org", 10_000);
      service.addDevice(USERS.get(i), new Device(DEVICES.get(i), "device", "Linux"));
      service.addWorkspace(USERS.get(i), WORKSPACES.get(i), "workspace " + i);
    }
    service.shareWorkspace(USERS.get(1), WORKSPACES.get(1), USERS.get(0));
    var created = new ArrayList<ItemChange>();
    for (long item = 0; item < ITEMS; item++) created.add(change(item, 1, Status.NEW));
    service.doCommit(USERS.get(0), DEVICES.get(0), WORKSPACES.get(0), created);
  }

  /// Moves a file of this mover back and forth.
  private static boolean move(SyncService service, long item) {
    for (int i = 0; i < MOVES; i++) {
      var answers =
          service.moveItems(
              USERS.get(0),
              DEVICES.get(0),
              WORKSPACES.get(i % 2),
              WORKSPACES.get((i + 1) % 2),
              List.of(change(item, i + 2, Status.MOVED)));
      assertEquals(List.of(new CommitInfo.Committed(item, i + 2)), answers);
    }
    return true;
  }

  private static void check(Stoa stoa, Design design) {
    try (var snapshot = stoa.snapshot()) {
      var seen =
          design == Design.FACADE_ALONE ? seenInFacades(stoa, snapshot) : seen(stoa, snapshot);
      assertEquals(ITEMS, seen.places.size());
      seen.places.forEach((item, places) -> assertEquals(1, places, "places of item " + item));
      assertEquals(seen.heldBytes, seen.usedBytes);
    }
  }

  private static Seen seen(Stoa stoa, Snapshot snapshot) {
    var seen = new Seen(new HashMap<>(), new ArrayList<>(), new ArrayList<>());
    for (int i = 0; i < USERS.size(); i++) {
      var workspace = snapshot.on(stoa.get(Workspace.class, WORKSPACES.get(i)));
      note(seen, workspace.changes(Long.MIN_VALUE, 100));
      var user = snapshot.on(stoa.get(User.class, USERS.get(i)));
      seen.usedBytes.add(user.account().quota().usedBytes());
    }
    return seen;
  }

  private static Seen seenInFacades(Stoa stoa, Snapshot snapshot) {
    var seen = new Seen(new HashMap<>(), new ArrayList<>(), new ArrayList<>());
    for (int i = 0; i < USERS.size(); i++) {
      int home = Math.floorMod(USERS.get(i).hashCode(), FacadeRouter.FACADES);
      var facade = snapshot.on(stoa.get(WholeFacade.class, home));
      note(seen, facade.changes(WORKSPACES.get(i), Long.MIN_VALUE, 100));
      seen.usedBytes.add(facade.account(USERS.get(i)).orElseThrow().quota().usedBytes());
    }
    return seen;
  }

  private static void note(Seen seen, List<ItemState> states) {
    long bytes = 0;
    for (var state : states) {
      seen.places.merge(state.item(), 1, Integer::sum);
      bytes += state.latest().metadata().quotaBytes();
    }
    seen.heldBytes.add(bytes);
  }

  private static ItemChange change(long item, int version, Status status) {
    return new ItemChange(
        item,
        version,
        new Metadata(
            status,
            Metadata.ROOT,
            "file " + item,
            false,
            "text/plain",
            100 + item,
            item,
            List.of(new Chunk("c" + item)),
            Instant.EPOCH));
  }
}
