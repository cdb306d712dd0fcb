package stoa.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import stoa.storage.disk.CorruptData;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.Disk;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.disk.StorageException;
import stoa.storage.disk.UnknownFormat;
import stoa.storage.index.RunFormat;
import stoa.storage.object.ObjectReader;
import stoa.storage.object.VersionState;
import stoa.storage.segment.SegmentLog;

/// Damages files of a device with versioned objects at random. Whatever is read afterwards is what
/// was written, or is refused with the file and the place; what is not damaged stays readable.
class VersionedFuzzTest {
  private static final int ROUNDS = Integer.getInteger("stoa.storage.fuzz", 80);
  private static final long FIRST = Long.getLong("stoa.storage.seed", 0);
  private static final DeviceConfig CONFIG = new DeviceConfig(16 << 10, 1 << 10, 4 << 10, 32 << 10);
  private static final int OBJECTS = 6;
  private static final int CHUNK = 256;

  // The object that the test writes last, so that the last segments of a device have it. A damaged
  // device may lose these: nothing proves that they were there.
  private static final int SACRIFICED = 99;

  private final List<View> expected = new ArrayList<>();

  /// The visible contents of an object or a snapshot.
  @SuppressWarnings("ArrayRecordComponent") // compared with care
  private record View(
      long id,
      int snapshot,
      byte[] bytes,
      List<ObjectReader.CoveredBytes> history,
      VersionState versions,
      SortedMap<String, byte[]> attributes) {}

  private enum Damage {
    FLIPS,
    ONE_FLIP,
    CUT,
    REMOVAL,
    COPY_OVER_ANOTHER,
    COPY_BESIDE
  }

  @Test
  void damagedFilesNeverGiveWrongData() throws IOException {
    var original = made();
    int refused = 0;
    int noticed = 0;
    int unharmed = 0;
    for (long round = FIRST; round < FIRST + ROUNDS; round++) {
      var random = new SplittableRandom(1000 + round);
      var disk = original.copy();
      var damage = Damage.values()[random.nextInt(Damage.values().length)];
      var names = disk.list();
      boolean index = random.nextInt(3) == 0;
      var some = names.stream().filter(it -> index != DeviceFiles.isSegment(it)).toList();
      var name = some.get(random.nextInt(some.size()));
      try {
        damage(disk, damage, name, some.get(random.nextInt(some.size())), random);
        switch (outcome(disk, damage, name)) {
          case REFUSED -> refused++;
          case NOTICED -> noticed++;
          case UNHARMED -> unharmed++;
        }
      } catch (IOException | RuntimeException | AssertionError e) {
        throw new AssertionError(
            "%s of %s: -Dstoa.storage.fuzz=1 -Dstoa.storage.seed=%d".formatted(damage, name, round),
            e);
      }
    }
    assertTrue(
        refused > ROUNDS / 20 && noticed > ROUNDS / 50 && unharmed > ROUNDS / 20,
        refused + " refused, " + noticed + " noticed, " + unharmed + " unharmed");
  }

  private enum Outcome {
    REFUSED,
    NOTICED,
    UNHARMED
  }

  /// A device with a history of all kinds of operations.
  private SimulatedDisk made() {
    var disk = new SimulatedDisk(1);
    try (var device = Device.open(disk, CONFIG, Runnable::run)) {
      var random = new SplittableRandom(2);
      for (int i = 1; i <= 500; i++) {
        var object = device.object(random.nextInt(OBJECTS));
        switch (random.nextInt(14)) {
          case 0 -> {
            try (var write = object.begin(object.nextVersion())) {
              write.truncate(random.nextInt(9000));
              write.attribute("a" + random.nextInt(3), data(random, 40));
              write.write(random.nextInt(8000), ByteBuffer.wrap(data(random, 100)));
              write.write(random.nextInt(8000), ByteBuffer.wrap(data(random, 6000)));
              write.commit();
            }
          }
          case 1 -> {
            if (object.exists() && object.snapshots().size() < 4)
              assertTrue(object.snapshot().exists());
          }
          case 2 -> {
            if (!object.snapshots().isEmpty()) object.snapshots().getFirst().release();
          }
          case 3 -> {
            if (object.snapshots().isEmpty()) object.delete();
          }
          default -> {
            long version = 1L + random.nextInt(200);
            int length = random.nextInt(5) == 0 ? 9000 : 200;
            object.write(version, random.nextInt(4000), ByteBuffer.wrap(data(random, length)));
          }
        }
        if (i == 250) while (device.maintain()) assertTrue(device.object(0).size() >= 0);
      }
      for (int i = 1; i <= 10; i++) {
        device.object(SACRIFICED).write(i, 0, ByteBuffer.wrap(data(random, 8000)));
      }
      for (int id = 0; id < OBJECTS; id++) {
        var object = device.object(id);
        expected.add(view(id, -1, object));
        var snapshots = object.snapshots();
        for (int i = 0; i < snapshots.size(); i++) expected.add(view(id, i, snapshots.get(i)));
      }
      assertTrue(expected.size() > OBJECTS + 3, "snapshots");
      var stats = device.stats();
      assertTrue(stats.runs() > 0 && stats.segments() > 8, stats.toString());
    }
    return disk;
  }

  private static byte[] data(SplittableRandom random, int max) {
    var data = new byte[1 + random.nextInt(max)];
    random.nextBytes(data);
    return data;
  }

  private static View view(long id, int snapshot, ObjectReader object) {
    return new View(
        id,
        snapshot,
        object.read(0, (int) object.size()),
        object.history(),
        object.versionState(),
        object.attributes());
  }

  private static void damage(
      SimulatedDisk disk, Damage damage, String name, String other, SplittableRandom random)
      throws IOException {
    byte[] bytes = bytes(disk, name);
    switch (damage) {
      case FLIPS -> {
        for (int i = 1 + random.nextInt(5); i > 0; i--) {
          disk.flip(name, random.nextInt(bytes.length), random.nextInt(8));
        }
      }
      case ONE_FLIP -> disk.flip(name, random.nextInt(bytes.length), random.nextInt(8));
      case CUT -> disk.cut(name, random.nextInt(bytes.length));
      case REMOVAL -> disk.delete(name);
      case COPY_OVER_ANOTHER -> {
        disk.delete(other);
        write(disk, other, bytes);
      }
      case COPY_BESIDE -> {
        if (DeviceFiles.isSegment(name)) write(disk, DeviceFiles.segment(1000), bytes);
        else if (RunFormat.isName(name)) write(disk, RunFormat.name(1000), bytes);
        else write(disk, name + DeviceFiles.UNFINISHED, bytes);
      }
    }
    disk.syncDirectory();
  }

  private static byte[] bytes(Disk disk, String name) throws IOException {
    try (var file = disk.open(name)) {
      var bytes = new byte[(int) file.size()];
      assertTrue(SegmentLog.readFully(file, 0, bytes, 0, bytes.length));
      return bytes;
    }
  }

  private static void write(Disk disk, String name, byte[] bytes) throws IOException {
    try (var file = disk.create(name)) {
      file.write(0, ByteBuffer.wrap(bytes));
      file.sync();
    }
  }

  private Outcome outcome(SimulatedDisk disk, Damage damage, String name) {
    int unreadable = 0;
    try (var device = Device.open(disk, CONFIG, Runnable::run)) {
      var damaged = new TreeSet<Long>();
      for (var view : expected) {
        int chunks = verify(device, view);
        unreadable += chunks;
        if (chunks > 0) damaged.add(view.id);
      }
      boolean well = device.scrub().isWell();
      if (unreadable > 0) assertFalse(well, "a scrub finds nothing");
      if (damage == Damage.ONE_FLIP && DeviceFiles.isSegment(name)) {
        // A block, in an object and in its snapshots; or the note that made one of these.
        assertTrue(damaged.size() <= 1, () -> damaged + " cannot be read");
      }
    } catch (CorruptData | UnknownFormat e) {
      named(e);
      return Outcome.REFUSED;
    }
    if (unreadable > 0 && RunFormat.isName(name) && damage != Damage.COPY_OVER_ANOTHER) {
      // The index is made again.
      try (var device = Device.open(disk, CONFIG, Runnable::run)) {
        for (var view : expected) assertEquals(0, verify(device, view));
      }
    }
    return unreadable > 0 ? Outcome.NOTICED : Outcome.UNHARMED;
  }

  private static void named(StorageException e) {
    var message = String.valueOf(e.getMessage());
    assertTrue(
        message.matches("(?s).*(segment-\\d+|run-\\d+|manifest).*"),
        "no file is named: " + message);
  }

  /// Answers how much cannot be read.
  private static int verify(Device device, View view) {
    int unreadable = 0;
    ObjectReader object = device.object(view.id);
    if (view.snapshot >= 0) {
      try {
        object = device.object(view.id).snapshots().get(view.snapshot);
      } catch (CorruptData e) {
        named(e);
        return 1;
      }
    }
    for (int at = 0; at < view.bytes.length; at += CHUNK) {
      int length = Math.min(CHUNK, view.bytes.length - at);
      try {
        assertArrayEquals(Arrays.copyOfRange(view.bytes, at, at + length), object.read(at, length));
      } catch (CorruptData e) {
        named(e);
        unreadable++;
      }
    }
    try {
      assertEquals(view.history, object.history());
      assertEquals(view.versions, object.versionState());
      assertEquals(view.bytes.length, object.size());
      var attributes = object.attributes();
      assertEquals(view.attributes.keySet(), attributes.keySet());
      attributes.forEach((name, value) -> assertArrayEquals(view.attributes.get(name), value));
    } catch (CorruptData e) {
      named(e);
      unreadable++;
    }
    return unreadable;
  }
}
