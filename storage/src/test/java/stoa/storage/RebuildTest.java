package stoa.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.index.RunFormat;
import stoa.storage.object.VersionedObject;

/// The index that opening makes from the log alone shows the same objects and snapshots as the
/// index that it replaces, whatever segments the device has reclaimed.
class RebuildTest {
  private static final DeviceConfig CONFIG = new DeviceConfig(16 << 10, 1 << 10, 4 << 10, 32 << 10);
  private static final int SEEDS = Integer.getInteger("stoa.storage.rebuilds", 10);
  private static final long FIRST = Long.getLong("stoa.storage.seed", 0);
  private static final int STEPS = 150;
  private static final int OBJECTS = 3;

  private static Device open(SimulatedDisk disk) {
    return Device.open(disk, CONFIG, Runnable::run);
  }

  private static void loseIndex(SimulatedDisk disk) throws IOException {
    for (var name : disk.list()) {
      if (RunFormat.isName(name) || name.equals(DeviceFiles.MANIFEST)) disk.delete(name);
    }
  }

  private static ByteBuffer filled(int length, int value) {
    var bytes = new byte[length];
    Arrays.fill(bytes, (byte) value);
    return ByteBuffer.wrap(bytes);
  }

  /// Compares what a device shows with what its log alone shows.
  private static void compare(Device device, SimulatedDisk disk) {
    try {
      var copy = disk.copy();
      loseIndex(copy);
      try (var rebuilt = open(copy)) {
        assertEquals(
            String.join("\n", MaintenanceTest.seen(device)),
            String.join("\n", MaintenanceTest.seen(rebuilt)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void maintain(Device device) {
    int steps = 0;
    while (device.maintain()) assertTrue(++steps < 10_000, "there is no end");
  }

  @Test
  void anOlderSnapshotKeepsWhatANewerOneHadForIt() throws IOException {
    var disk = new SimulatedDisk(1);
    byte[] first = filled(1000, 1).array();
    try (var device = open(disk)) {
      var object = device.object(1);
      object.write(1, 0, ByteBuffer.wrap(first));
      device.object(2).write(1, 0, filled(14_000, 2)); // keeps this segment
      device.object(3).write(1, 0, filled(8_000, 3));
      var older = object.snapshot();
      device.object(3).write(2, 8_000, filled(7_500, 3));
      device.object(4).write(1, 0, filled(8_000, 4));
      var newer = object.snapshot();
      device.object(4).write(2, 8_000, filled(7_500, 4));
      object.write(2, 0, filled(1000, 5)); // the newer snapshot keeps version 1 for both
      device.object(2).write(2, 20_000, filled(14_000, 2)); // keeps this segment
      device.object(2).write(3, 40_000, filled(14_000, 2));
      device.object(3).delete();
      maintain(device); // writes the note of the older snapshot again, behind version 2
      newer.release(); // hands version 1 to the older snapshot
      device.object(4).delete();
      maintain(device); // gives up the note of the newer snapshot
      assertArrayEquals(first, older.read(0, 1000));
      compare(device, disk);
    }
  }

  @Test
  void theLogAloneShowsTheSameAfterEveryStep() {
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      try {
        new Run(seed).run();
      } catch (IOException | RuntimeException | AssertionError e) {
        throw new AssertionError(
            "-Dstoa.storage.rebuilds=1 -Dstoa.storage.seed=%d".formatted(seed), e);
      }
    }
  }

  /// One device and its changes, drawn from a seed.
  private static final class Run {
    private final SplittableRandom random;
    private final SimulatedDisk disk;
    private final int snapshotsMax;
    private final int bytesMax;
    private final boolean deletes;

    Run(long seed) {
      random = new SplittableRandom(seed);
      disk = new SimulatedDisk(seed);
      snapshotsMax = 2 + random.nextInt(4);
      bytesMax = 500 << random.nextInt(4);
      deletes = random.nextInt(2) == 0;
    }

    void run() throws IOException {
      for (int life = 0; life < 3; life++) {
        try (var device = open(disk)) {
          for (int i = 0; i < STEPS / 3; i++) {
            if (random.nextInt(4) == 0) {
              device.maintain(() -> between(device));
            } else {
              change(device);
            }
            compare(device, disk);
          }
        }
        if (random.nextBoolean()) loseIndex(disk);
      }
    }

    /// Changes something between two writes of the maintenance.
    private void between(Device device) {
      compare(device, disk);
      if (random.nextInt(3) > 0) return;
      change(device);
      compare(device, disk);
    }

    private void change(Device device) {
      var object = device.object(random.nextInt(OBJECTS));
      switch (random.nextInt(12)) {
        case 0 -> {
          try (var write = object.begin(version(object))) {
            if (random.nextBoolean()) write.truncate(random.nextInt(9000));
            write.attribute("a" + random.nextInt(3), data(40));
            write.write(random.nextInt(8000), ByteBuffer.wrap(data(bytesMax)));
            write.commit();
          }
        }
        case 1, 2 -> {
          if (object.exists() && object.snapshots().size() < snapshotsMax) object.snapshot();
        }
        case 3 -> {
          var kept = object.snapshots();
          if (!kept.isEmpty()) kept.get(random.nextInt(kept.size())).release();
        }
        case 4 -> {
          if (deletes && object.snapshots().isEmpty()) object.delete();
        }
        default ->
            object.write(version(object), random.nextInt(8000), ByteBuffer.wrap(data(bytesMax)));
      }
    }

    private long version(VersionedObject object) {
      long next = object.nextVersion();
      return random.nextInt(8) > 0 ? next : 1 + random.nextLong(next + 3);
    }

    private byte[] data(int max) {
      var data = new byte[1 + random.nextInt(max)];
      random.nextBytes(data);
      return data;
    }
  }
}
