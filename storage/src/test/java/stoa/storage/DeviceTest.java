package stoa.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.base.StreamId;
import stoa.storage.disk.AlreadyOpen;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.Disk;
import stoa.storage.disk.FileDisk;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.segment.Commit;

class DeviceTest {
  private static final StreamId A = StreamId.of("a");
  private static final StreamId B = StreamId.of("b");

  private final Disk disk = new MemoryDisk(64 << 20);
  private final Commit commit = new Commit();

  @Test
  void readsWhatWasWritten() {
    try (var device = Device.open(disk, DeviceConfig.standard())) {
      device.append(commit.write(A, 0, 7, bytes("seven"), 0, 5).write(B, 1, 7, bytes("x"), 0, 1));
      assertArrayEquals(bytes("seven"), device.read(A, 0, 7));
      assertArrayEquals(bytes("x"), device.read(B, 1, 7));
      assertNull(device.read(A, 0, 6));
      assertNull(device.read(A, 1, 7));
      assertEquals(7, device.floor(A, 0, 100));
      assertEquals(-1, device.floor(A, 0, 6));
    }
  }

  @Test
  void findsEverythingAgainAfterReopening(@TempDir Path directory) {
    for (int round = 0; round < 5; round++) {
      try (var device = Device.open(new FileDisk(directory), new DeviceConfig(8 << 10))) {
        for (int i = 0; i < round * 100; i++) {
          assertArrayEquals(bytes("data" + i), device.read(A, 0, i));
        }
        for (int i = round * 100; i < round * 100 + 100; i++) {
          var data = bytes("data" + i);
          device.append(commit.clear().write(A, 0, i, data, 0, data.length));
        }
        device.sync();
      }
    }
  }

  @Test
  void theLatestWriteAtAnOffsetWins() {
    try (var device = Device.open(disk, DeviceConfig.standard())) {
      for (var text : List.of("one", "two", "three")) {
        device.append(commit.clear().write(A, 0, 5, bytes(text), 0, text.length()));
        device.append(commit.clear().write(A, 0, 2, bytes("b" + text), 0, text.length() + 1));
      }
      assertArrayEquals(bytes("three"), device.read(A, 0, 5));
      assertArrayEquals(bytes("bthree"), device.read(A, 0, 2));
    }
  }

  @Test
  void scansInAscendingOrderWithinBothBounds() {
    try (var device = Device.open(disk, DeviceConfig.standard())) {
      for (long offset : new long[] {9, 3, 5, 1, 7, 5}) {
        device.append(commit.clear().write(A, 0, offset, bytes("" + offset), 0, 1));
      }
      var seen = new ArrayList<Long>();
      device.scan(A, 0, 3, 7, (offset, data) -> seen.add(offset));
      assertEquals(List.of(3L, 5L, 7L), seen);
    }
  }

  @Test
  void refusesASecondOpener() {
    try (var device = Device.open(disk, DeviceConfig.standard())) {
      assertThrows(AlreadyOpen.class, () -> Device.open(disk, DeviceConfig.standard()));
      device.sync();
    }
    Device.open(disk, DeviceConfig.standard()).close();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
  }
}
