package stoa.sim.scenario;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import stoa.AlreadyExists;
import stoa.Blob;
import stoa.BlobReader;
import stoa.BlobSnapshot;
import stoa.Gone;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.TooOld;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.BlobModel;
import stoa.sim.check.Demand;
import stoa.sim.check.Linearizability;
import stoa.sim.world.PoweredDisk;
import stoa.sim.world.Recorder;
import stoa.sim.world.SimulatedRegister;
import stoa.sim.world.SimulatedStore;
import stoa.storage.disk.StorageException;

/// Clients write, read, keep and delete blobs of a whole store while its disk fails and the store
/// restarts, with ordinary calls and maintenance between. An acknowledged write must be there,
/// whole, under its version; a snapshot must stay unchanged; and a deleted blob must be gone.
public final class BlobScenario implements Scenario {
  private static final int BLOBS = 2;
  private static final int CELLS = 24;
  // Larger than a block of the device, so that a power loss can tear a cell.
  private static final int CELL_BYTES = 1_500;
  private static final int TURNS = 70;
  // The number of recoveries that may fail before the disk stops failing.
  private static final int ATTEMPTS_MAX = 5;
  private static final String ATTRIBUTE = "attribute";
  private static final StoaConfig CONFIG = StoaConfig.of("file:simulated");

  private final Function<Chance, PoweredDisk> disks;

  private final String name;
  private final int maintenancePercent;

  /// @param disks creates the disk of a run
  /// @param maintenancePercent the share of turns that maintain the device
  BlobScenario(String name, Function<Chance, PoweredDisk> disks, int maintenancePercent) {
    this.name = name;
    this.disks = disks;
    this.maintenancePercent = maintenancePercent;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void run(Chance chance, Trace trace) {
    new Run(chance, trace, disks.apply(chance.of("disk")), maintenancePercent).run();
  }

  private static final class Run {
    private final Chance chance;
    private final Trace trace;
    private final SimulatedStore store;
    private final AtomicLong time = new AtomicLong();
    private final Recorder<BlobModel.Input, String> calls = new Recorder<>(time::incrementAndGet);
    private final List<Long> versions = new ArrayList<>(List.of(1L));
    private final int maintenancePercent;
    private int marks;

    Run(Chance chance, Trace trace, PoweredDisk disk, int maintenancePercent) {
      this.maintenancePercent = maintenancePercent;
      this.chance = chance.of("work");
      this.trace = trace;
      store = new SimulatedStore(chance, CONFIG, disk);
    }

    void run() {
      for (int turn = 0; turn < TURNS; turn++) {
        if (chance.percent(maintenancePercent)) maintain();
        int dice = chance.below(100);
        if (dice < 90) call(input("blob " + chance.below(BLOBS)));
        else if (dice < 95) callOther();
        else restart();
      }
      store.calm();
      restart();
      for (int i = 0; i < BLOBS; i++) {
        call(new BlobModel.Input.Write("blob " + i, List.of(part()), "end"));
        call(new BlobModel.Input.Read("blob " + i));
      }
      Linearizability.require(new BlobModel(), calls.history());
      trace.add("end " + calls.history() + " " + store.diskDigest());
    }

    private BlobModel.Input input(String key) {
      return switch (chance.below(16)) {
        case 0 -> new BlobModel.Input.Create(key);
        case 1 -> new BlobModel.Input.Delete(key);
        case 2 -> new BlobModel.Input.Abandon(key);
        case 3, 4 -> new BlobModel.Input.Keep(key);
        case 5, 6 -> new BlobModel.Input.At(key, chance.of(versions));
        case 7 -> new BlobModel.Input.Release(key, chance.of(versions));
        case 8, 9, 10 -> new BlobModel.Input.Read(key);
        default -> {
          var parts = new ArrayList<BlobModel.Part>();
          for (int i = chance.between(1, 3); i > 0; i--) parts.add(part());
          yield new BlobModel.Input.Write(key, parts, "a" + marks);
        }
      };
    }

    private BlobModel.Part part() {
      int at = chance.below(CELLS);
      if (chance.percent(15)) return new BlobModel.Part(at, "");
      String mark = Character.toString('a' + marks++ % 26);
      return new BlobModel.Part(at, mark.repeat(chance.between(1, CELLS - at)));
    }

    private void call(BlobModel.Input input) {
      var call = calls.client("client").begin(input);
      try {
        String answer = store.await(() -> answer(input));
        trace.add(input + " " + answer);
        trace.reached(input.getClass().getSimpleName() + " is answered");
        call.returned(answer);
      } catch (StoaException unknown) {
        String name = unknown.getClass().getSimpleName();
        trace.add(input + " " + name);
        trace.reached(input.getClass().getSimpleName() + " ends with " + name);
        restart();
        call.lost();
      }
    }

    private String answer(BlobModel.Input input) {
      Blob blob = store.stoa().get(Blob.class, input.key());
      return switch (input) {
        case BlobModel.Input.Write write -> Long.toString(write(blob, write));
        case BlobModel.Input.Abandon _ -> {
          try (var abandoned = blob.begin()) {
            abandoned.write(0, cells("?"));
          }
          yield BlobModel.DONE;
        }
        case BlobModel.Input.Read read ->
            BlobModel.seen(
                store.stoa().find(Blob.class, read.key()).isPresent(),
                blob.version(),
                cells(blob),
                blob.attribute(ATTRIBUTE).map(value -> new String(value, US_ASCII)).orElse(""));
        case BlobModel.Input.Keep _ -> keep(blob);
        case BlobModel.Input.At(_, long version) -> at(blob, version);
        case BlobModel.Input.Release(_, long version) -> release(blob, version);
        case BlobModel.Input.Create(String key) -> {
          try {
            store.stoa().create(Blob.class, key);
            yield BlobModel.YES;
          } catch (AlreadyExists exists) {
            yield BlobModel.NO;
          }
        }
        case BlobModel.Input.Delete _ -> delete(blob);
      };
    }

    private long write(Blob blob, BlobModel.Input.Write write) {
      var parts = write.parts();
      var first = parts.getFirst();
      long version;
      try (var transaction = blob.begin()) {
        for (var part : parts) {
          long offset = (long) part.at() * CELL_BYTES;
          if (part.text().isEmpty()) transaction.truncate(offset);
          else transaction.write(offset, cells(part.text()));
        }
        transaction.attribute(ATTRIBUTE, write.attribute().getBytes(US_ASCII));
        version = transaction.commit();
      }
      if (!versions.contains(version)) versions.add(version);
      trace.reached(first.text().isEmpty() ? "a truncation" : "bytes are written");
      return version;
    }

    private String keep(Blob blob) {
      long version = blob.version();
      if (version == 0) return BlobModel.NO;
      boolean kept = blob.snapshots().stream().anyMatch(snapshot -> snapshot.version() == version);
      if (!kept) {
        BlobSnapshot snapshot = blob.snapshot();
        Demand.that(snapshot.version() == version, "the snapshot is of " + version);
      }
      return Long.toString(version);
    }

    private String at(Blob blob, long version) {
      try {
        String cells = cells(blob.at(version));
        trace.reached("a kept version is read");
        return cells;
      } catch (TooOld gone) {
        return BlobModel.TOO_OLD;
      }
    }

    private String release(Blob blob, long version) {
      try {
        blob.at(version).release();
        trace.reached("a snapshot is released");
        return BlobModel.DONE;
      } catch (TooOld gone) {
        return BlobModel.TOO_OLD;
      }
    }

    private String delete(Blob blob) {
      var old = store.stoa().find(Blob.class, store.stoa().ref(blob).key());
      boolean deleted = store.stoa().delete(blob);
      Demand.that(deleted == old.isPresent(), "there is one to delete: " + old);
      if (old.isEmpty()) return BlobModel.NO;
      try {
        long size = old.get().size();
        throw new AssertionError("a deleted blob has " + size + " bytes");
      } catch (Gone gone) {
        trace.reached("a deleted blob is gone");
        return BlobModel.YES;
      }
    }

    private static byte[] cells(String text) {
      var bytes = new byte[text.length() * CELL_BYTES];
      for (int i = 0; i < text.length(); i++) {
        Arrays.fill(bytes, i * CELL_BYTES, (i + 1) * CELL_BYTES, (byte) text.charAt(i));
      }
      return bytes;
    }

    private static String cells(BlobReader reader) {
      byte[] bytes = reader.read(0, CELLS * CELL_BYTES);
      var text = new StringBuilder();
      for (int i = 0; i < CELLS; i++) {
        byte mark = bytes[i * CELL_BYTES];
        for (int j = 1; j < CELL_BYTES; j++) {
          Demand.that(bytes[i * CELL_BYTES + j] == mark, "cell " + i + " is whole");
        }
        text.append(mark == 0 ? BlobModel.ZERO : (char) mark);
      }
      long size = reader.size();
      Demand.that(size % CELL_BYTES == 0, "the size is of whole cells: " + size);
      int end = (int) (size / CELL_BYTES);
      Demand.that(
          text.substring(end).chars().allMatch(c -> c == BlobModel.ZERO), "zeros behind the end");
      return text.substring(0, end);
    }

    private void callOther() {
      try {
        store.await(() -> {
          store.stoa().get(SimulatedRegister.class, "other").write(chance.below(5));
          return true;
        });
      } catch (StoaException failed) {
        trace.add("other " + failed.getClass().getSimpleName());
        restart();
      }
    }

    private void maintain() {
      try {
        if (store.maintain()) trace.reached("the device is maintained");
      } catch (StorageException failed) {
        trace.add("maintenance " + failed.getClass().getSimpleName());
        trace.reached("the disk fails during maintenance");
        restart();
      }
    }

    private void restart() {
      for (int attempt = 0; ; attempt++) {
        if (attempt == ATTEMPTS_MAX) store.calm();
        trace.add("restart");
        store.restart();
        try {
          store.await(() -> store.stoa().find(Blob.class, "blob 0").isPresent());
          return;
        } catch (StoaException failed) {
          trace.reached("the disk fails during a recovery");
        }
      }
    }
  }
}
