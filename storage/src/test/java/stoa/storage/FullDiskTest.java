package stoa.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import stoa.base.StreamId;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFull;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.object.VersionState;
import stoa.storage.object.VersionedObject;
import stoa.storage.segment.Commit;

/// The behavior of a device when its disk is full.
class FullDiskTest {
  private static final StreamId A = StreamId.of("a");
  private static final StreamId B = StreamId.of("b");
  private static final DeviceConfig SMALL = new DeviceConfig(64 << 10, 0, 16 << 10, 64 << 10);

  private static Device open(Disk disk) {
    return Device.open(disk, DeviceConfig.standard(), Runnable::run);
  }

  private static void put(Device device, StreamId id, long offset, int length) {
    var data = new byte[length];
    data[0] = (byte) offset;
    device.append(new Commit().write(id, 0, offset, data, 0, length));
  }

  private static byte[] read(Device device, StreamId id, int space, long offset) {
    return Objects.requireNonNull(device.read(id, space, offset));
  }

  /// Puts records from an offset on until there is no room. Answers the first that was refused.
  private static long fill(Device device, StreamId id, long from) {
    for (long offset = from; ; offset++) {
      try {
        put(device, id, offset, 5_000);
      } catch (DiskFull full) {
        return offset;
      }
    }
  }

  @Test
  void whatIsOverwrittenNeverFillsADevice() {
    try (var device = open(new MemoryDisk(4 << 20))) {
      for (int i = 0; i < 20_000; i++) put(device, A, i % 100, 5_000);
      for (int i = 0; i < 100; i++) {
        assertEquals((byte) i, read(device, A, 0, i)[0]);
      }
    }
  }

  @Test
  void aFullDeviceRefusesAndSaysWhatToDo() {
    try (var device = open(new MemoryDisk(4 << 20))) {
      long refused = fill(device, A, 0);
      String told =
          String.valueOf(
              assertThrows(DiskFull.class, () -> put(device, A, refused, 5_000)).getMessage());
      assertTrue(told.contains("raise memoryBytesMax, which is 4,194,304"), told);
      assertTrue(told.contains("delete or trim objects"), told);
      assertTrue(refused * 5_000 > (4 << 20) * 3 / 4, refused + " records");
      assertNull(device.read(A, 0, refused));
      assertEquals((byte) (refused - 1), read(device, A, 0, refused - 1)[0]);
    }
  }

  @Test
  void aFullDeviceCanAlwaysTrimAndGoesOn() {
    try (var device = open(new MemoryDisk(4 << 20))) {
      long next = 0;
      for (int round = 0; round < 10; round++) {
        long end = fill(device, A, next);
        assertTrue(end - next > 400, "round " + round + ": " + (end - next));
        device.append(new Commit().trim(A, 0, end));
        next = end;
      }
    }
  }

  @Test
  void aFullDeviceCanAlwaysDeleteAndGoesOn() {
    var data = ByteBuffer.allocate(20_000);
    try (var device = open(new MemoryDisk(4 << 20))) {
      for (int round = 0; round < 5; round++) {
        int objects = 0;
        try {
          while (true) device.object(++objects).write(0, data.duplicate());
        } catch (DiskFull full) {
          assertTrue(objects > 100, "round " + round + ": " + objects);
        }
        var refused = device.object(objects).writeAsync(0, data.duplicate());
        assertInstanceOf(DiskFull.class, refused.exceptionNow());
        for (int i = 1; i < objects; i++) device.object(i).delete();
      }
    }
  }

  /// Appends to an object of bytes until there is no room, and a try more. Answers its size.
  private static long fill(VersionedObject object, int from) {
    var data = ByteBuffer.allocate(20_000);
    long size = from;
    try {
      for (; ; size += 20_000) object.write(size, data.duplicate());
    } catch (DiskFull full) {
      long end = size;
      assertThrows(DiskFull.class, () -> object.write(end, data.duplicate()));
      return size;
    }
  }

  @Test
  void aFullDeviceCanAlwaysTruncateAndGoesOn() {
    try (var device = open(new MemoryDisk(4 << 20))) {
      var object = device.object(1);
      for (int round = 0; round < 5; round++) {
        long size = fill(object, 10);
        assertTrue(size > 2_000_000, "round " + round + ": " + size);
        try (var cut = object.begin()) {
          cut.truncate(10);
          cut.commit();
        }
      }
    }
  }

  @Test
  void aFullDeviceGoesOnOnceALargeWriteIsAborted() {
    try (var device = open(new MemoryDisk(4 << 20))) {
      for (int round = 0; round < 5; round++) {
        try (var write = device.object(1).begin()) {
          long size = 0;
          try {
            for (; ; size += 20_000) write.write(size, ByteBuffer.allocate(20_000));
          } catch (DiskFull full) {
            assertTrue(size > 2_000_000, "round " + round + ": " + size);
          }
          assertThrows(
              DiskFull.class, () -> device.object(2).write(0, ByteBuffer.allocate(20_000)));
        }
        device.object(2).write(0, ByteBuffer.allocate(20_000));
      }
    }
  }

  @Test
  void aFullDeviceGoesOnOnceAReaderOfUpdatesHasEnded() throws IOException {
    try (var device = open(new MemoryDisk(4 << 20))) {
      var object = device.object(1);
      long end = fill(device, A, 0);
      object.note(0, ByteBuffer.allocate(10));
      var reader =
          new OutputStream() {
            private boolean trimmed;

            @Override
            public void write(int one) {
              if (trimmed) return;
              trimmed = true;
              device.append(new Commit().trim(A, 0, end));
              assertThrows(DiskFull.class, () -> fillTwice(device, end));
            }
          };
      object.updatesMissingFrom(VersionState.EMPTY, reader);
      put(device, A, end, 5_000);
    }
  }

  private static void fillTwice(Device device, long from) {
    long end = fill(device, A, from);
    put(device, A, end, 5_000);
  }

  @Test
  void halfOfAFullDeviceComesBackWhenEverySecondObjectIsTrimmed() {
    try (var device = open(new MemoryDisk(32 << 20))) {
      int end = 0;
      try {
        while (true) put(device, new StreamId(7, end++), 0, 5_000);
      } catch (DiskFull full) {
        // So that each segment is dead in part.
        for (int i = 0; i < end; i += 2) device.append(new Commit().trim(new StreamId(7, i), 0, 1));
      }
      long more = fill(device, B, 0);
      assertTrue(more > end / 3, more + " of " + end);
      for (int i = 1; i < end - 1; i += 2) {
        assertEquals(5_000, read(device, new StreamId(7, i), 0, 0).length);
      }
    }
  }

  @Test
  void aDeviceOnADiskWithoutAnyRoomOpensAndReadsAndGoesOnWhenThereIsSome() throws IOException {
    var disk = new SimulatedDisk(1);
    try (var device = Device.open(disk, SMALL, Runnable::run)) {
      for (int i = 0; i < 100; i++) put(device, A, i, 5_000);
      device.sync();
    }
    disk.limit(disk.bytes());
    try (var device = Device.open(disk, SMALL, Runnable::run)) {
      assertEquals(5_000, read(device, A, 0, 99).length);
      assertThrows(DiskFull.class, () -> put(device, A, 100, 5_000));
      disk.limit(disk.bytes() + (1 << 20));
      put(device, A, 100, 5_000);
      device.sync();
    }
    try (var device = Device.open(disk, SMALL, Runnable::run)) {
      assertEquals(5_000, read(device, A, 0, 100).length);
    }
  }

  @Test
  void aFullDeviceThatIsOpenedAgainCanTrimAndGoesOn() throws IOException {
    var disk = new SimulatedDisk(1);
    disk.limit(1 << 20);
    long end;
    try (var device = Device.open(disk, SMALL, Runnable::run)) {
      end = fill(device, A, 0);
      device.sync();
    }
    try (var device = Device.open(disk, SMALL, Runnable::run)) {
      assertEquals(5_000, read(device, A, 0, end - 1).length);
      assertThrows(DiskFull.class, () -> put(device, B, 0, 5_000));
      device.append(new Commit().trim(A, 0, end));
      assertTrue(fill(device, B, 0) > end / 2);
    }
  }

  @Test
  void aRecordThatFillsTheDiskHalfwayIsRefusedAndTheDeviceGoesOn() throws IOException {
    var disk = new SimulatedDisk(1);
    disk.tearWhenFull();
    try (var device = Device.open(disk, SMALL, Runnable::run)) {
      put(device, A, 0, 5_000);
      device.sync();
      disk.limit(disk.bytes() + 2_000);
      assertThrows(DiskFull.class, () -> put(device, A, 1, 5_000));
      assertNull(device.read(A, 0, 1));
      disk.limit(Long.MAX_VALUE);
      put(device, A, 2, 5_000);
      device.sync();
    }
    try (var device = Device.open(disk.crash(), SMALL, Runnable::run)) {
      assertEquals(5_000, read(device, A, 0, 0).length);
      assertNull(device.read(A, 0, 1));
      assertEquals(5_000, read(device, A, 0, 2).length);
    }
  }

  @Test
  void aTableOfTheIndexThatFillsTheDiskHalfwayIsWrittenLater() {
    var disk = new SimulatedDisk(1);
    disk.tearWhenFull();
    try (var device = Device.open(disk, SMALL, Runnable::run)) {
      long end = 0;
      for (int round = 0; round < 30; round++) {
        disk.limit(disk.bytes() + 3_000);
        try {
          for (int i = 0; i < 500; i++) {
            put(device, A, end, 10);
            end++;
          }
        } catch (DiskFull full) {
          disk.limit(Long.MAX_VALUE);
        }
      }
      for (long i = 0; i < end; i++) assertArrayEquals(bytes(i), device.read(A, 0, i));
      assertTrue(device.scrub().isWell());
    }
  }

  private static byte[] bytes(long offset) {
    var bytes = new byte[10];
    bytes[0] = (byte) offset;
    return bytes;
  }

  @Test
  void anIdleDeviceHoldsLittleMoreThanWhatLives() throws IOException {
    var disk = new MemoryDisk(256 << 20);
    var config = new DeviceConfig(8 << 20);
    try (var device = Device.open(disk, config, Runnable::run)) {
      for (int i = 0; i < 4_000; i++) put(device, A, i, 10_000);
      for (int i = 0; i < 100; i++) put(device, B, i, 10_000);
      device.append(new Commit().trim(A, 0, 4_000));
      device.sync();
      while (device.maintain()) {
        // Until there is nothing to do.
      }
      assertTrue(disk.bytes() < (1_000_000 * 2) + (2 << 20), disk.bytes() + " bytes");
      assertEquals(10_000, read(device, B, 0, 99).length);
    }
  }

  @Test
  void segmentsAreSmallBesideTheirDisk() {
    assertEquals(2 << 20, DeviceConfig.standard().fitting(64 << 20).segmentBytes());
    assertEquals(64 << 20, DeviceConfig.standard().fitting(Long.MAX_VALUE).segmentBytes());
    assertEquals(256 << 10, DeviceConfig.standard().fitting(1 << 20).segmentBytes());
    assertEquals(16 << 10, SMALL.fitting(1 << 30).memtableBytesMax());
  }
}
