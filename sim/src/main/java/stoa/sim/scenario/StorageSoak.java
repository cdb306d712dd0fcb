package stoa.sim.scenario;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.SoakModel;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.FileDisk;
import stoa.storage.object.ObjectSnapshot;
import stoa.storage.object.VersionedObject;

/// Fills, overwrites, truncates, snapshots and deletes versioned objects on the files of a
/// temporary directory, while a thread reclaims and reorders; opens the device again and again, now
/// and then without its index. It compares everything with a model, and the used space with the
/// live data.
///
/// The system property `stoa.soak.seconds` sets its duration, and `stoa.soak.mib` the approximate
/// size of the data. It prints its progress.
public final class StorageSoak implements Scenario {
  private static final int OBJECTS = 40;
  private static final int SEGMENT = 4 << 20;
  private static final long SPARE_BYTES = 16L * SEGMENT;

  private final Duration time;
  private final int mib;

  StorageSoak() {
    this(
        Duration.ofSeconds(Long.getLong("stoa.soak.seconds", 10)),
        Integer.getInteger("stoa.soak.mib", 64));
  }

  StorageSoak(Duration time, int mib) {
    this.time = time;
    this.mib = mib;
  }

  @Override
  public String name() {
    return "storage-soak";
  }

  @Override
  public Duration timeMax() {
    return time.multipliedBy(2).plusMinutes(5);
  }

  @Override
  public void run(Chance chance, Trace trace) throws Exception {
    var directory = Files.createTempDirectory("storage-soak");
    try {
      var run = new Run(chance, directory, mib);
      long end = System.nanoTime() + time.toNanos();
      do run.life(end);
      while (System.nanoTime() < end);
      run.end();
      trace.reached("the soak ends well");
    } finally {
      delete(directory);
    }
  }

  private static void delete(Path directory) throws IOException {
    try (var files = Files.walk(directory)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    }
  }

  private static final class Run {
    private final Chance chance;
    private final Path directory;
    private final int mib;
    private final List<SoakModel> objects = new ArrayList<>();
    private final List<List<SoakModel>> snapshots = new ArrayList<>();
    private final long start = System.nanoTime();
    private long userBytes;
    private long operations;
    private int lives;

    Run(Chance chance, Path directory, int mib) {
      this.chance = chance;
      this.directory = directory;
      this.mib = mib;
      for (int i = 0; i < OBJECTS; i++) {
        objects.add(empty(i));
        snapshots.add(new ArrayList<>());
      }
    }

    private SoakModel empty(int id) {
      return new SoakModel(id, (int) ((long) mib * (1 << 20) / OBJECTS / SoakModel.CELL));
    }

    private Device open() {
      var config =
          new DeviceConfig(SEGMENT).withMemtableBytesMax(512 << 10).withCacheBytesMax(1 << 20);
      return Device.open(new FileDisk(directory), config);
    }

    /// Runs from one opening to the next.
    void life(long end) throws Exception {
      if (chance.percent(20)) loseIndex();
      var done = new AtomicBoolean();
      try (var device = open()) {
        for (int i = 0; i < 4; i++) verify(device, chance.below(OBJECTS));
        var maintenance =
            CompletableFuture.runAsync(() -> {
              while (!done.get()) {
                if (!device.maintain()) Thread.onSpinWait();
              }
            });
        try {
          long until = Math.min(end, System.nanoTime() + Duration.ofSeconds(4).toNanos());
          while (System.nanoTime() < until && !maintenance.isDone()) {
            step(device, chance.below(OBJECTS));
            operations++;
            if (operations % 200 == 0 && used() > 4L * mib * (1 << 20) + SPARE_BYTES) {
              while (device.maintain()) operations++;
            }
          }
        } finally {
          done.set(true);
        }
        maintenance.join();
        if (++lives % 5 == 0) report(device);
      }
    }

    private void step(Device device, int id) throws IOException {
      var object = device.object(id);
      var model = objects.get(id);
      switch (chance.below(60)) {
        case 0 -> {
          if (model.exists() && snapshots.get(id).size() < 2) {
            object.snapshot();
            snapshots.get(id).add(model.copy());
          }
        }
        case 1, 2 -> {
          var kept = object.snapshots();
          if (kept.isEmpty()) return;
          int i = chance.below(kept.size());
          snapshots.get(id).get(i).require(kept.get(i), "a snapshot of object " + id);
          kept.get(i).release();
          snapshots.get(id).remove(i);
        }
        case 3 -> {
          if (!snapshots.get(id).isEmpty() || chance.percent(60)) return;
          object.delete();
          objects.set(id, empty(id));
        }
        case 4 -> verify(device, id);
        case 5, 6, 7, 8, 9 -> transaction(object, model);
        default -> {
          long version = version(model);
          int from = chance.below(model.cells());
          int to = Math.min(model.cells(), from + length());
          boolean changed =
              object.write(version, (long) from * SoakModel.CELL, model.content(version, from, to));
          if (changed != model.add(version)) throw new AssertionError("version " + version);
          if (changed) model.write(version, from, to);
          userBytes += (long) (to - from) * SoakModel.CELL;
        }
      }
    }

    private int length() {
      return 1 + chance.below(1 << chance.below(12)); // up to 128 KiB
    }

    private long version(SoakModel model) {
      if (chance.percent(90)) return model.highest() + 1;
      return 1L + chance.below((int) model.highest() + 10);
    }

    private void transaction(VersionedObject object, SoakModel model) {
      long version = version(model);
      boolean abort = chance.percent(15);
      boolean fresh = !abort && model.add(version);
      try (var write = object.begin(version)) {
        if (chance.percent(10)) {
          int from = chance.below(model.cells());
          write.truncate((long) from * SoakModel.CELL);
          if (fresh) model.truncate(version, from);
        }
        for (int i = chance.below(20); i > 0; i--) {
          int from = chance.below(model.cells());
          int to = Math.min(model.cells(), from + length());
          var _ = write.writeAsync((long) from * SoakModel.CELL, model.content(version, from, to));
          if (fresh) model.write(version, from, to);
          userBytes += (long) (to - from) * SoakModel.CELL;
        }
        if (!abort && write.commit() != fresh) throw new AssertionError("version " + version);
      }
    }

    private void verify(Device device, int id) {
      var object = device.object(id);
      objects.get(id).require(object, "object " + id);
      var kept = object.snapshots();
      if (kept.size() != snapshots.get(id).size()) {
        throw new AssertionError("object " + id + " has " + kept.size() + " snapshots");
      }
      for (int i = 0; i < kept.size(); i++) {
        snapshots.get(id).get(i).require(kept.get(i), "snapshot " + i + " of object " + id);
      }
    }

    private void loseIndex() throws IOException {
      try (var files = Files.list(directory)) {
        for (var file : files.toList()) {
          String name = file.getFileName().toString();
          if (name.equals("manifest") || name.startsWith("run-")) Files.delete(file);
        }
      }
    }

    private long used() throws IOException {
      long used = 0;
      try (var files = Files.list(directory)) {
        for (var file : files.toList()) {
          if (Files.exists(file)) used += Files.size(file);
        }
      } catch (UncheckedIOException e) {
        return 0; // a file was deleted meanwhile
      }
      return used;
    }

    private long liveBytes() {
      return objects.stream().mapToLong(SoakModel::dataBytes).sum();
    }

    private void report(Device device) throws IOException {
      var stats = device.stats();
      System.out.printf(
          Locale.ROOT,
          "%4d s: %d operations, %d openings, %d MiB written, %.2f times to the log, %d MiB live, %d MiB of files, %d segments, %d runs%n",
          Duration.ofNanos(System.nanoTime() - start).toSeconds(),
          operations,
          lives,
          userBytes >> 20,
          (double) stats.logBytes() / Math.max(1, userBytes),
          liveBytes() >> 20,
          used() >> 20,
          stats.segments(),
          stats.runs());
    }

    /// Verifies everything, then the little space that is needed in the end.
    void end() throws IOException {
      loseIndex();
      try (var device = open()) {
        for (int id = 0; id < OBJECTS; id++) verify(device, id);
        for (int id = 0; id < OBJECTS; id++) {
          device.object(id).snapshots().forEach(ObjectSnapshot::release);
          snapshots.get(id).clear();
        }
        while (device.maintain()) operations++;
        report(device);
        if (!device.scrub().isWell()) throw new AssertionError(device.scrub().toString());
        for (int id = 0; id < OBJECTS; id++) verify(device, id);
        long most = 5 * liveBytes() / 2 + SPARE_BYTES;
        if (used() > most) throw new AssertionError(used() + " bytes of files, at most " + most);
      }
    }
  }
}
