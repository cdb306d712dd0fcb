package stoa.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.base.StreamId;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.FileDisk;
import stoa.storage.segment.Commit;
import stoa.storage.segment.EncodedNumbers;
import stoa.storage.segment.RecordFormat;
import stoa.storage.segment.SegmentLog;

class BoundedMemoryTest {
  private static final int OBJECTS = Integer.getInteger("stoa.storage.objects", 300_000);
  private static final DeviceConfig CONFIG = new DeviceConfig(16 << 20, 0, 1 << 20, 2 << 20);

  @Test
  void hundredsOfThousandsOfObjectsFitASmallHeap(@TempDir Path directory) throws Exception {
    assertEquals(0, inSmallHeap("objects", directory));
  }

  @Test
  void aRecordLargerThanTheHeapIsRecovered(@TempDir Path directory) throws Exception {
    assertEquals(0, inSmallHeap("record", directory));
  }

  private static int inSmallHeap(String what, Path directory) throws Exception {
    var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    var classes =
        location(BoundedMemoryTest.class)
            + File.pathSeparator
            + location(Device.class)
            + File.pathSeparator
            + location(StreamId.class)
            + File.pathSeparator
            + location(org.slf4j.Logger.class)
            + File.pathSeparator
            + location(Test.class)
            + File.pathSeparator
            + location(org.opentest4j.AssertionFailedError.class)
            + File.pathSeparator
            + location(org.junit.platform.commons.JUnitException.class);
    var process =
        new ProcessBuilder(
                java,
                "-Xmx24m",
                "-XX:MaxDirectMemorySize=24m",
                "-Dstoa.storage.objects=" + OBJECTS,
                "-cp",
                classes,
                BoundedMemoryTest.class.getName(),
                what,
                directory.toString())
            .inheritIO()
            .start();
    return process.waitFor();
  }

  private static String location(Class<?> type) throws Exception {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
  }

  /// In a JVM of its own.
  public static void main(String[] args) throws IOException {
    var disk = new FileDisk(Path.of(args[1]));
    if (args[0].equals("record")) record(disk);
    else objects(disk);
  }

  /// Writes a record of 160 MiB, and a note in it, and recovers them.
  private static void record(FileDisk disk) throws IOException {
    var id = id(1);
    var data = ByteBuffer.allocateDirect(Commit.DATA_BYTES_MAX);
    for (int i = 0; i < data.limit(); i += 8) data.putLong(i, i * 31L);
    var commit = new Commit();
    for (int i = 0; i < 40; i++) commit.data(id, 128, (long) i * data.limit(), data);
    int place = commit.note(9, id, 128, 0, data(5), 0, 40);
    var log = SegmentLog.open(disk, CONFIG, disk.list());
    log.recover(0, item -> {});
    long position = log.append(commit) + place;
    log.close();
    log = SegmentLog.open(disk, CONFIG, disk.list());
    int[] items = {0};
    log.recover(
        0,
        item -> {
          items[0]++;
          if (item.kind != RecordFormat.ITEM_DATA) {
            assertEquals(position, item.position);
            assertArrayEquals(data(5), item.data());
          }
        });
    assertEquals(41, items[0]);
    log.close();
  }

  /// Writes and reads the objects, some of them twice.
  private static void objects(FileDisk disk) {
    try (var device = Device.open(disk, CONFIG)) {
      var commit = new Commit();
      for (int i = 0; i < OBJECTS; i++) {
        commit.write(id(i), 0, i % 7, data(i), 0, 40);
        if (i % 5 == 0) commit.write(id(i / 2), 1, i, data(i), 0, 40);
        if (commit.count() < 100 && i < OBJECTS - 1) continue;
        device.append(commit);
        commit.clear();
      }
      device.sync();
      verify(device);
    }
    try (var device = Device.open(disk, CONFIG)) {
      verify(device);
      assertTrue(device.stats().runEntries() > OBJECTS, device.stats().toString());
      assertTrue(device.stats().recoveredBytes() < 10 << 20, device.stats().toString());
    }
  }

  private static void verify(Device device) {
    var random = new SplittableRandom(1);
    for (int j = 0; j < 20_000; j++) {
      int i = random.nextInt(OBJECTS);
      assertArrayEquals(data(i), device.read(id(i), 0, i % 7));
      assertEquals(-1, device.floor(id(i + OBJECTS), 0, 100));
      if (i % 5 == 0) assertArrayEquals(data(i), device.read(id(i / 2), 1, i));
    }
  }

  private static StreamId id(int i) {
    return new StreamId(i * 0x9e3779b97f4a7c15L, i);
  }

  private static byte[] data(int i) {
    var data = new byte[40];
    EncodedNumbers.putLong(data, 0, i);
    EncodedNumbers.putLong(data, 32, i * 31L);
    return data;
  }
}
