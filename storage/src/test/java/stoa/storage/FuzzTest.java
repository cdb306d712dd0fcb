package stoa.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import stoa.base.StreamId;
import stoa.storage.disk.CorruptData;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.disk.UnknownFormat;
import stoa.storage.segment.Commit;

/// Damages files at random. Whatever is read afterwards is what was written, or is refused.
class FuzzTest {
  private static final int ROUNDS = Integer.getInteger("stoa.storage.fuzz", 600);
  private static final DeviceConfig CONFIG = new DeviceConfig(16 << 10, 1 << 10, 4 << 10, 32 << 10);
  private static final StreamId[] OBJECTS = new StreamId[30];
  private static final int COMMITS = 400;

  static {
    for (int i = 0; i < OBJECTS.length; i++) OBJECTS[i] = StreamId.of("object" + i);
  }

  @Test
  void flippedBitsAndCutsNeverGiveWrongData() throws IOException {
    var original = new SimulatedDisk(1);
    // Of a commit, one extent at an offset of its own number; the object follows from the number.
    var expected = new TreeMap<Integer, byte[]>();
    try (var device = Device.open(original, CONFIG, Runnable::run)) {
      var random = new SplittableRandom(2);
      for (int i = 0; i < COMMITS; i++) {
        var data = new byte[random.nextInt(200)];
        random.nextBytes(data);
        expected.put(i, data);
        device.append(new Commit().write(object(i), 0, i, data, 0, data.length));
        device.sync();
      }
      assertTrue(device.stats().runs() > 2 && device.stats().segments() > 2);
    }
    int refused = 0;
    int noticed = 0;
    int unharmed = 0;
    for (int round = 0; round < ROUNDS; round++) {
      var random = new SplittableRandom(1000 + round);
      var disk = original.copy();
      boolean cut = damage(disk, random);
      try (var device = Device.open(disk, CONFIG, Runnable::run)) {
        if (verify(device, expected, cut)) unharmed++;
        else noticed++;
      } catch (CorruptData | UnknownFormat e) {
        refused++;
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("round " + round, e);
      }
    }
    assertTrue(
        refused > ROUNDS / 20 && noticed > ROUNDS / 20 && unharmed > ROUNDS / 20,
        refused + " refused, " + noticed + " noticed, " + unharmed + " unharmed");
  }

  /// Answers whether the last segment was cut off.
  private static boolean damage(SimulatedDisk disk, SplittableRandom random) throws IOException {
    var names = disk.list();
    var name = names.get(random.nextInt(names.size()));
    long size;
    try (var file = disk.open(name)) {
      size = file.size();
    }
    if (random.nextInt(5) == 0) {
      disk.cut(name, random.nextLong(size));
      return name.equals(names.getLast());
    }
    int flips = 1 + random.nextInt(3);
    for (int i = 0; i < flips; i++) disk.flip(name, random.nextLong(size), random.nextInt(8));
    return false;
  }

  private static StreamId object(int number) {
    return OBJECTS[(number * 7) % OBJECTS.length];
  }

  /// Answers whether everything is readable.
  private static boolean verify(Device device, Map<Integer, byte[]> expected, boolean cut) {
    boolean all = true;
    int last = -1;
    for (int i = 0; i < COMMITS; i++) {
      try {
        byte[] data = device.read(object(i), 0, i);
        if (data == null) continue;
        assertArrayEquals(expected.get(i), data);
        assertTrue(i == last + 1, "a gap before " + i);
        last = i;
      } catch (CorruptData e) {
        all = false;
        last = i;
      }
    }
    // The last record is proved by none behind it, and a file that ends early proves nothing.
    assertTrue(cut || last >= COMMITS - 2, "lost behind " + last);
    for (var object : OBJECTS) {
      try {
        device.scan(
            object,
            0,
            0,
            Long.MAX_VALUE,
            (offset, data) -> {
              assertArrayEquals(expected.get((int) offset), data);
              return true;
            });
        device.floor(object, 0, COMMITS / 2);
      } catch (CorruptData e) {
        all = false;
      }
    }
    return all;
  }
}
