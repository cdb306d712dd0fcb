package stoa.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFailed;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.disk.ReadFailed;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.object.ObjectReader.Content;
import stoa.storage.object.ObjectReader.CoveredBytes;
import stoa.storage.object.VersionRange;
import stoa.storage.segment.Commit;

/// Versioned objects at the limits of their numbers and sizes.
class VersionedEdgesTest {
  private static final long END = Long.MAX_VALUE;

  private static Device open() {
    return Device.open(new MemoryDisk(64 << 20), new DeviceConfig(1 << 20), Runnable::run);
  }

  private static ByteBuffer filled(int length, int value) {
    var bytes = new byte[length];
    java.util.Arrays.fill(bytes, (byte) value);
    return ByteBuffer.wrap(bytes);
  }

  @Test
  void aTruncationAtTheGreatestOffsetChangesNoByte() {
    try (var device = open()) {
      var object = device.object(1);
      object.write(1, 10, filled(5, 1));
      try (var write = object.begin(2)) {
        write.truncate(END);
        assertTrue(write.commit());
      }
      assertEquals(List.of(new CoveredBytes(10, 5, 1, Content.DATA)), object.history());
      assertEquals("1-2", object.versionState().toString());
    }
  }

  @Test
  void bytesUpToTheGreatestOffsetAreKept() {
    try (var device = open()) {
      var object = device.object(1);
      object.write(1, END - 3, filled(3, 1));
      object.write(2, END - 2, filled(1, 2));
      assertArrayEquals(new byte[] {0, 1, 2, 1}, object.read(END - 4, 4));
      assertEquals(END, object.size());
      assertThrows(IllegalArgumentException.class, () -> object.write(3, END - 2, filled(3, 3)));
      assertThrows(IllegalArgumentException.class, () -> object.read(END - 2, 3));
      try (var write = object.begin(3)) {
        write.truncate(END - 1);
        write.commit();
      }
      assertEquals(END - 1, object.size());
      try (var write = object.begin(4)) {
        write.truncate(0);
        write.commit();
      }
      assertEquals(List.of(new CoveredBytes(0, END, 4, Content.HOLE)), object.history());
      assertEquals(0, object.size());
    }
  }

  @Test
  void theGreatestVersionLeavesNoNextOne() {
    try (var device = open()) {
      var object = device.object(1);
      assertTrue(object.write(END - 1, 0, filled(1, 1)));
      assertTrue(object.write(1, 0, filled(2, 2)));
      assertArrayEquals(new byte[] {1, 2}, object.read(0, 2));
      assertEquals(List.of(new VersionRange(2, END - 2)), object.versionState().missing());
      assertEquals(END - 3, object.stat().missingVersions());
      assertThrows(IllegalArgumentException.class, () -> object.write(END, 0, filled(1, 1)));
      assertThrows(IllegalArgumentException.class, () -> object.write(0, 0, filled(1, 1)));
      assertThrows(IllegalStateException.class, () -> object.write(0, filled(1, 1)));
    }
  }

  @Test
  void aWriteOfManyItemsIsOneTransaction() {
    var data = new byte[(9 << 20) + 5];
    new SplittableRandom(1).nextBytes(data);
    try (var device = open()) {
      var object = device.object(1);
      object.write(2, 100, ByteBuffer.wrap(data));
      object.write(1, 0, filled(1000, 9)); // late
      assertArrayEquals(filled(100, 9).array(), object.read(0, 100));
      assertArrayEquals(data, object.read(100, data.length));
      int around = Commit.DATA_BYTES_MAX - 4100;
      assertArrayEquals(
          java.util.Arrays.copyOfRange(data, around, around + 8200),
          object.read(100 + around, 8200));
      assertEquals(data.length + 100, object.size());
    }
  }

  @Test
  void aDeletedObjectIsNotPutInOrder() {
    try (var device = open()) {
      for (int id = 0; id < 2; id++) {
        var object = device.object(id);
        for (int i = 1; i <= 60; i++) object.write(i, (61 - i) * 10L, filled(5, i));
        object.delete();
      }
      device.object(9).write(1, 0, filled(1, 1));
      int steps = 0;
      while (device.maintain()) assertTrue(++steps < 100, "there is no end");
      assertArrayEquals(new byte[] {1}, device.object(9).read(0, 1));
    }
  }

  @Test
  void aDiskThatFailsWhileNotesAreReplayedIsReportedAsSuch() {
    // At every change of the disk during recovery: what is thrown is of the device's own kinds.
    for (int changes = 0; changes < 40; changes += 3) {
      var disk = new SimulatedDisk(changes);
      var config = new DeviceConfig(4 << 10, 0, 4 << 10, 4 << 10);
      try (var device = Device.open(disk, config, Runnable::run)) {
        var object = device.object(1);
        for (int i = 1; i <= 200; i++) {
          object.write(i, (i * 37) % 1000, filled(50, i));
          if (i % 20 == 0) object.snapshot();
          if (i % 40 == 0) object.snapshots().getFirst().release();
        }
      }
      try {
        for (var name : disk.list()) {
          if (name.equals(DeviceFiles.MANIFEST)) disk.delete(name);
        }
      } catch (java.io.IOException e) {
        throw new AssertionError(e);
      }
      disk.losePowerAfter(changes);
      try (var device = Device.open(disk, config, Runnable::run)) {
        assertTrue(device.object(1).exists());
      } catch (DeviceFailed | ReadFailed e) {
        assertTrue(changes < 40);
      }
      disk = disk.crash();
      try (var device = Device.open(disk, config, Runnable::run)) {
        assertEquals("1-200", device.object(1).versionState().toString());
        assertEquals(5, device.object(1).snapshots().size());
      }
    }
  }
}
