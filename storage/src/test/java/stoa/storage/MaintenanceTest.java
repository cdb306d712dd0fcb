package stoa.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import stoa.base.StreamId;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.Disk;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.index.RunFormat;
import stoa.storage.object.ObjectReader;
import stoa.storage.segment.Commit;

class MaintenanceTest {
  private final Disk disk = new MemoryDisk(256 << 20);

  private Device open() {
    return Device.open(
        disk, new DeviceConfig(64 << 10).withMemtableBytesMax(16 << 10), Runnable::run);
  }

  private static ByteBuffer filled(int length, int value) {
    var bytes = new byte[length];
    Arrays.fill(bytes, (byte) value);
    return ByteBuffer.wrap(bytes);
  }

  private static void maintain(Device device) {
    int steps = 0;
    while (device.maintain()) assertTrue(++steps < 10_000, "there is no end");
  }

  /// Everything that can be seen of a device.
  static List<String> seen(Device device) {
    var seen = new ArrayList<String>();
    device.objects(
        null,
        id -> {
          var object = device.object(id);
          seen.add(describe(object));
          for (var snapshot : object.snapshots()) seen.add(describe(snapshot));
          return true;
        });
    return seen;
  }

  private static String describe(ObjectReader object) {
    var attributes = new StringBuilder();
    object
        .attributes()
        .forEach((name, value) -> attributes.append(name).append(Arrays.hashCode(value)));
    return "%s %s %s %s %s"
        .formatted(
            object,
            object.versionState(),
            object.history(),
            attributes,
            Arrays.hashCode(object.read(0, (int) object.size())));
  }

  private static long used(Disk disk) throws IOException {
    long used = 0;
    for (var name : disk.list()) {
      try (var file = disk.open(name)) {
        used += file.size();
      }
    }
    return used;
  }

  @Test
  void overwrittenBytesAreReclaimed() throws IOException {
    try (var device = open()) {
      var object = device.object(1);
      for (int i = 1; i <= 2000; i++) object.write(i, 0, filled(4000, i));
      long before = used(disk);
      maintain(device);
      assertTrue(used(disk) < before / 10, used(disk) + " of " + before);
      assertArrayEquals(filled(4000, 2000).array(), object.read(0, 4000));
      assertEquals("1-2000", object.versionState().toString());
    }
    try (var device = open()) {
      assertArrayEquals(filled(4000, 2000).array(), device.object(1).read(0, 4000));
    }
  }

  @Test
  void whatWasDeletedIsReclaimed() throws IOException {
    try (var device = open()) {
      for (int i = 1; i <= 500; i++) device.object(i).write(1, 0, filled(2000, i));
      for (int i = 1; i <= 500; i++) if (i % 10 != 0) device.object(i).delete();
      long before = used(disk);
      var seen = seen(device);
      maintain(device);
      assertTrue(used(disk) < before / 2, used(disk) + " of " + before);
      assertEquals(seen, seen(device));
    }
  }

  @Test
  void recordsAreReclaimedToo() throws IOException {
    var id = StreamId.of("records");
    try (var device = open()) {
      var commit = new Commit();
      var data = "some data of a record".getBytes(StandardCharsets.UTF_8);
      for (int i = 0; i < 20_000; i++) {
        device.append(commit.clear().write(id, 0, i % 500, data, 0, data.length));
      }
      device.sync();
      long before = used(disk);
      maintain(device);
      assertTrue(used(disk) < before / 5, used(disk) + " of " + before);
      for (int i = 0; i < 500; i++) assertArrayEquals(data, device.read(id, 0, i));
      var count = new int[1];
      device.scan(id, 0, 0, Long.MAX_VALUE, (at, bytes) -> ++count[0] > 0);
      assertEquals(500, count[0]);
    }
  }

  @Test
  void aScatteredObjectIsPutInOrderAndStaysTheSame() {
    try (var device = open()) {
      var object = device.object(1);
      var random = new Random(5);
      for (int i = 1; i <= 500; i++) {
        object.write(i, random.nextInt(200_000), filled(random.nextInt(3000) + 1, i));
      }
      var seen = seen(device);
      maintain(device);
      assertEquals(seen, seen(device));
      assertFalse(device.maintain());
      assertTrue(device.scrub().isWell());
    }
  }

  @Test
  void theIndexMadeFromAReclaimedLogIsTheSame() throws IOException {
    for (int seed = 1; seed <= 30; seed++) {
      for (var name : disk.list()) disk.delete(name);
      var random = new Random(seed);
      List<String> seen;
      try (var device = open()) {
        for (int step = 0; step < 300; step++) step(device, random);
        var before = seen(device);
        maintain(device);
        seen = seen(device);
        assertEquals(before, seen, "maintained, seed " + seed);
      }
      for (var name : disk.list()) {
        if (RunFormat.isName(name) || name.equals(DeviceFiles.MANIFEST)) disk.delete(name);
      }
      try (var device = open()) {
        assertEquals(seen, seen(device), "made anew, seed " + seed);
        for (int step = 0; step < 100; step++) step(device, random);
        var before = seen(device);
        maintain(device);
        assertEquals(before, seen(device), "maintained again, seed " + seed);
        assertTrue(device.scrub().isWell());
      }
    }
  }

  private static void step(Device device, Random random) {
    var object = device.object(1L + random.nextInt(4));
    int what = random.nextInt(40);
    if (what < 25) {
      long version = 1L + random.nextInt(300);
      object.write(
          version, random.nextInt(5000), filled(1 + random.nextInt(2000), random.nextInt()));
    } else if (what < 31) {
      try (var write = object.begin(1L + random.nextInt(300))) {
        for (int i = random.nextInt(6); i > 0; i--) {
          write.write(random.nextInt(5000), filled(1 + random.nextInt(500), random.nextInt()));
        }
        if (random.nextInt(3) == 0) write.truncate(random.nextInt(6000));
        if (random.nextInt(2) == 0) {
          write.attribute("a" + random.nextInt(3), filled(5, random.nextInt()).array());
        }
        if (random.nextInt(4) == 0) write.removeAttribute("b" + random.nextInt(3));
        write.commit();
      }
    } else if (what < 34) {
      if (object.exists() && object.snapshots().size() < 5) assertNotNull(object.snapshot());
    } else if (what < 37) {
      var snapshots = object.snapshots();
      if (!snapshots.isEmpty()) snapshots.get(random.nextInt(snapshots.size())).release();
    } else if (what < 38) {
      if (object.snapshots().isEmpty()) object.delete();
    } else if (random.nextInt(4) == 0) {
      maintain(device);
    } else {
      device.maintain();
    }
  }
}
