package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.log.Consensus;
import stoa.log.Position;
import stoa.log.Replica;
import stoa.log.ReplicaLog;
import stoa.log.ReplicatedBatchLog;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.upkeep.Salvage;
import stoa.storage.upkeep.Survey;
import stoa.store.replicas.Losses;
import stoa.store.threads.Threads;

/// The losses that a survey finds in a damaged store, and the contents of the salvaged store. The
/// test damages each part of the log in turn by one bit.
class LossesTest {
  private static final int OBJECTS = 4;
  private static final int CALLS = 5;
  private static final int STEP = 41;
  private static final Survey.Visitor SILENT =
      new Survey.Visitor() {
        @Override
        public void item(Survey.Place place, Survey.Bytes bytes) {}

        @Override
        public void damage(Survey.Damage damage) {}
      };

  @Shared(name = "losses.Notes")
  static class Notes {
    private final List<String> lines = new ArrayList<>();

    public int add(String line) {
      lines.add(line);
      return lines.size();
    }

    @Accessor
    public List<String> lines() {
      return List.copyOf(lines);
    }
  }

  private final SimulatedDisk disk = new SimulatedDisk(1);

  private static Stoa open(SimulatedDisk on) {
    return EmbeddedEngine.open(StoaConfig.of("memory:"), on, Clock.system(), Threads.real());
  }

  private static List<String> lines(int number) {
    var lines = new ArrayList<String>();
    for (int call = 0; call < CALLS; call++) lines.add("line " + call + " of " + number);
    return lines;
  }

  private static Losses losses(SimulatedDisk of) {
    var losses = Dictionary.losses();
    var _ = Survey.of(of, losses.visitor(SILENT));
    losses.next();
    var _ = Survey.of(of, losses.visitor(SILENT));
    return losses;
  }

  private void fill() {
    try (var stoa = open(disk)) {
      fill(stoa);
    }
  }

  private static void fill(Stoa stoa) {
    for (int call = 0; call < CALLS; call++) {
      for (int i = 0; i < OBJECTS; i++) {
        stoa.get(Notes.class, "n" + i).add(lines(i).get(call));
      }
    }
  }

  /// The agreement of a replica with itself, whose log is on its device. It ends at some time with
  /// commands that are in the log, and not applied.
  private static final class Alone implements Consensus {
    private final Replica replica;
    private Position last;
    private boolean applies = true;

    Alone(Replica replica) {
      this.replica = replica;
      this.last = replica.applied();
    }

    @Override
    public synchronized Result propose(byte[] command) {
      ReplicaLog log = Objects.requireNonNull(replica.log());
      last = new Position(1, last.index() + 1);
      log.append(new ReplicaLog.Item.Ordered(last, command));
      log.sync();
      if (applies) return new Result.Applied(replica.apply(last, command));
      return new Result.Unknown(new Unavailable("it is not applied"));
    }

    synchronized void ends() {
      applies = false;
    }

    @Override
    public void confirm() {}

    @Override
    public int commandBytesMax() {
      return 1 << 20;
    }
  }

  /// Fills the disk like [#fill], as that of a replica whose log is on its device. The log ends
  /// with a transaction that is not applied.
  private void fillReplica() {
    try (var replica =
        new Replica(Device.open(disk, DeviceConfig.standard()), Replica.LogPlace.DEVICE)) {
      var alone = new Alone(replica);
      try (var stoa =
          EmbeddedEngine.openReplicated(
              StoaConfig.of("memory:"),
              replica.device(),
              () -> ReplicatedBatchLog.open(replica, alone),
              Clock.system(),
              Threads.real(),
              Part.WHOLE)) {
        fill(stoa);
        alone.ends();
        assertThrows(
            StoaException.class,
            () ->
                stoa.transact(() -> {
                  for (int i = 0; i < OBJECTS; i++) stoa.get(Notes.class, "n" + i).add("late");
                }));
      }
    }
  }

  @Test
  void whatAReplicaHasNotAppliedIsNoLoss() throws IOException {
    fillReplica();
    var losses = losses(disk);
    assertEquals(List.of(), losses.damages());
    assertEquals(List.of(), losses.lost());
    assertEquals(1, losses.unapplied());
    var saved = new SimulatedDisk(2);
    Salvage.write(disk, saved, losses.changed(), SILENT);
    check(saved, Set.of(), "salvaged");
    assertEquals(List.of(), losses(saved).lost());
    assertEquals(0, losses(saved).unapplied());
  }

  @Test
  void everyObjectOfAReplicaIsWholeOrEndsBeforeWhatIsToldToBeLost() throws IOException {
    fillReplica();
    damageEachPart();
  }

  @Test
  void everyObjectIsWholeOrEndsBeforeWhatIsToldToBeLost() throws IOException {
    fill();
    damageEachPart();
  }

  private void damageEachPart() throws IOException {
    int length = bytes();
    int withLosses = 0;
    for (int at = 0; at < length; at += STEP) {
      var damaged = disk.copy();
      damaged.flip("segment-00000001", at, at % 8);
      Losses losses;
      try {
        losses = losses(damaged);
      } catch (stoa.storage.disk.UnknownFormat another) {
        continue;
      }
      if (losses.lacksClasses()) continue;
      var saved = new SimulatedDisk(2);
      Salvage.write(damaged, saved, losses.changed(), SILENT);
      var lost = new TreeSet<String>();
      for (Losses.Lost one : losses.lost()) lost.add(one.name());
      if (!lost.isEmpty()) withLosses++;
      check(saved, lost, "at " + at + ": " + losses.damages());
      assertEquals(List.of(), losses(saved).lost(), "at " + at);
    }
    assertTrue(withLosses > 10, "with losses: " + withLosses);
  }

  private int bytes() throws IOException {
    try (var file = disk.open("segment-00000001")) {
      var bytes = java.nio.ByteBuffer.allocate((int) file.size());
      while (bytes.hasRemaining() && file.read(bytes.position(), bytes) > 0) {
        // Until all is there.
      }
      int end = bytes.position();
      while (end > 0 && bytes.get(end - 1) == 0) end--;
      return end;
    }
  }

  private static void check(SimulatedDisk saved, Set<String> lost, String where) {
    try (var stoa = open(saved)) {
      for (int i = 0; i < OBJECTS; i++) {
        Notes notes = stoa.get(Notes.class, "n" + i);
        List<String> found = notes.lines();
        boolean isTold = lost.contains("losses.Notes[n" + i + "]") || hasUnnamed(lost);
        assertEquals(lines(i).subList(0, found.size()), found, where);
        assertTrue(isTold || found.size() == CALLS, where + " " + i + " " + found + " " + lost);
        assertEquals(found.size() + 1, notes.add("more"), where);
      }
    }
  }

  /// Whether something is lost whose name is lost, too.
  private static boolean hasUnnamed(Set<String> lost) {
    return lost.stream().anyMatch(name -> name.startsWith("stream "));
  }
}
