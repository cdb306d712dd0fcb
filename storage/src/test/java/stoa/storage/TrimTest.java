package stoa.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import stoa.base.StreamId;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.index.RunFormat;
import stoa.storage.segment.Commit;

class TrimTest {
  private static final StreamId ID = StreamId.of("trimmed");
  private static final StreamId OTHER = StreamId.of("other");

  private final MemoryDisk disk = new MemoryDisk(256 << 20);

  private Device open() {
    return Device.open(
        disk, new DeviceConfig(64 << 10).withMemtableBytesMax(16 << 10), Runnable::run);
  }

  private static byte[] data(long offset) {
    return ByteBuffer.allocate(100).putLong(offset).array();
  }

  private static void fill(Device device, StreamId id, int space, long from, long to) {
    var commit = new Commit();
    for (long at = from; at < to; at++) {
      device.append(commit.clear().write(id, space, at, data(at), 0, 100));
    }
  }

  private static void trim(Device device, StreamId id, int space, long before) {
    device.append(new Commit().trim(id, space, before));
  }

  private static List<Long> offsets(Device device, StreamId id, int space) {
    var offsets = new ArrayList<Long>();
    device.scan(
        id,
        space,
        0,
        Long.MAX_VALUE,
        (at, bytes) -> {
          assertArrayEquals(data(at), bytes);
          return offsets.add(at);
        });
    return offsets;
  }

  private static List<Long> range(long from, long to) {
    var offsets = new ArrayList<Long>();
    for (long at = from; at < to; at++) offsets.add(at);
    return offsets;
  }

  private static void maintain(Device device) {
    device.sync(); // what a power loss could take back is not heeded
    int steps = 0;
    while (device.maintain()) assertTrue(++steps < 10_000, "there is no end");
  }

  private long used() throws IOException {
    long used = 0;
    for (var name : disk.list()) {
      try (var file = disk.open(name)) {
        used += file.size();
      }
    }
    return used;
  }

  private void forgetIndex() throws IOException {
    for (var name : disk.list()) {
      if (RunFormat.isName(name) || name.equals(DeviceFiles.MANIFEST)) disk.delete(name);
    }
  }

  @Test
  void whatIsTrimmedIsSeenByNoReader() {
    try (var device = open()) {
      fill(device, ID, 0, 0, 20);
      assertEquals(0, device.trimmedBefore(ID, 0));
      trim(device, ID, 0, 12);
      assertEquals(12, device.trimmedBefore(ID, 0));
      assertNull(device.read(ID, 0, 11));
      assertEquals(-1, device.floor(ID, 0, 11));
      assertNull(device.readFloor(ID, 0, 11));
      assertEquals(range(12, 20), offsets(device, ID, 0));
      assertArrayEquals(data(12), device.read(ID, 0, 12));
      assertEquals(12, device.floor(ID, 0, 12));
      var extent = device.readFloor(ID, 0, Long.MAX_VALUE);
      assertNotNull(extent);
      assertEquals(19, extent.offset());
    }
  }

  @Test
  void aSpaceIsTrimmedByItselfAndNeverBack() {
    try (var device = open()) {
      fill(device, ID, 0, 0, 20);
      fill(device, ID, 127, 0, 20);
      fill(device, OTHER, 0, 0, 20);
      trim(device, ID, 0, 12);
      trim(device, ID, 0, 7);
      trim(device, ID, 0, 12);
      assertEquals(range(12, 20), offsets(device, ID, 0));
      assertEquals(range(0, 20), offsets(device, ID, 127));
      assertEquals(range(0, 20), offsets(device, OTHER, 0));
      assertEquals(0, device.trimmedBefore(ID, 127));
      fill(device, ID, 0, 5, 6); // too late
      assertEquals(range(12, 20), offsets(device, ID, 0));
      trim(device, ID, 0, Long.MAX_VALUE);
      assertEquals(List.of(), offsets(device, ID, 0));
    }
  }

  @Test
  void aTrimAndTheRecordThatStandsForWhatItReleasesComeTogether() {
    try (var device = open()) {
      fill(device, ID, 0, 0, 20);
      var commit = new Commit().write(ID, 0, 15, data(15), 0, 100).trim(ID, 0, 15);
      device.append(commit.trim(ID, 1, 3));
      assertEquals(range(15, 20), offsets(device, ID, 0));
      assertEquals(3, device.trimmedBefore(ID, 1));
    }
  }

  @Test
  void theRoomOfWhatIsTrimmedComesBack() throws IOException {
    try (var device = open()) {
      fill(device, ID, 0, 0, 10_000);
      fill(device, OTHER, 0, 0, 100);
      long before = used();
      trim(device, ID, 0, 9_900);
      maintain(device);
      assertTrue(used() < before / 5, used() + " of " + before);
      assertEquals(range(9_900, 10_000), offsets(device, ID, 0));
      assertEquals(range(0, 100), offsets(device, OTHER, 0));
      assertTrue(device.scrub().isWell());
    }
  }

  @Test
  void theIndexForgetsWhatIsTrimmedWhenItIsMerged() {
    try (var device = open()) {
      for (int round = 0; round < 40; round++) {
        fill(device, ID, 0, round * 1000L, round * 1000L + 1000);
        trim(device, ID, 0, round * 1000L + 900);
        device.sync();
      }
      assertTrue(device.stats().merges() > 5, "there were merges");
      assertTrue(device.stats().runEntries() < 10_000, device.stats().toString());
      assertEquals(range(39_900, 40_000), offsets(device, ID, 0));
    }
  }

  @Test
  void writingAndTrimmingForEverTakesBoundedRoom() throws IOException {
    try (var device = open()) {
      for (int round = 0; round < 50; round++) {
        fill(device, ID, 0, round * 1000L, round * 1000L + 1000);
        fill(device, StreamId.of("small" + round), 0, 0, 2);
        trim(device, ID, 0, round * 1000L + 900);
        maintain(device);
        assertTrue(used() < 1 << 20, used() + " in round " + round);
      }
      assertEquals(range(49_900, 50_000), offsets(device, ID, 0));
      for (int round = 0; round < 50; round++) {
        assertEquals(range(0, 2), offsets(device, StreamId.of("small" + round), 0));
      }
    }
  }

  @Test
  void trimmedRecordsStayAwayWhenTheIndexIsMadeFromAReclaimedLog() throws IOException {
    for (int round = 0; round < 12; round++) {
      try (var device = open()) {
        fill(device, ID, 0, round * 500L, round * 500L + 500);
        fill(device, OTHER, 0, round * 30L, round * 30L + 30);
        if (round % 3 == 1) trim(device, ID, 0, round * 500L - 100);
        if (round == 6) device.object(ID).write(1, 0, ByteBuffer.wrap(data(1)));
        if (round == 7) device.object(ID).delete(); // another thing under the same name
        device.sync();
        if (round % 2 == 0) maintain(device);
        check(device, round);
      }
      forgetIndex();
      try (var device = open()) {
        check(device, round);
        maintain(device);
        check(device, round);
      }
      try (var device = open()) {
        check(device, round);
      }
    }
  }

  private static void check(Device device, int round) {
    long before = round == 0 ? 0 : (round - (round + 2) % 3) * 500L - 100;
    assertEquals(before, device.trimmedBefore(ID, 0), "round " + round);
    assertEquals(range(before, round * 500L + 500), offsets(device, ID, 0));
    assertEquals(range(0, round * 30L + 30), offsets(device, OTHER, 0));
    assertNull(before == 0 ? null : device.read(ID, 0, before - 1));
  }

  @Test
  void aTrimThatWasSyncedOutlivesThePower() {
    var simulated = new SimulatedDisk(1);
    var config = new DeviceConfig(64 << 10).withMemtableBytesMax(16 << 10);
    try (var device = Device.open(simulated, config, Runnable::run)) {
      fill(device, ID, 0, 0, 100);
      trim(device, ID, 0, 50);
      device.sync();
      trim(device, ID, 0, 80);
      try (var crashed = Device.open(simulated.crash(), config, Runnable::run)) {
        long before = crashed.trimmedBefore(ID, 0);
        assertTrue(before == 50 || before == 80, "trimmed before " + before);
        assertEquals(range(before, 100), offsets(crashed, ID, 0));
      }
    }
  }

  @Test
  void onlyRecordSpacesAreTrimmed() {
    try (var device = open()) {
      assertThrows(IllegalArgumentException.class, () -> new Commit().trim(ID, 128, 1));
      assertThrows(IllegalArgumentException.class, () -> new Commit().trim(ID, 0, -1));
      assertThrows(IllegalArgumentException.class, () -> device.trimmedBefore(ID, 128));
      trim(device, ID, 0, 0);
      assertEquals(0, device.trimmedBefore(ID, 0));
    }
  }

  @Test
  void readersBesideTrimsMaintenanceAndFlushesSeeWholeSuffixes() throws Exception {
    long end = 20_000;
    try (var device = open();
        var threads = Executors.newFixedThreadPool(2)) {
      var readers = new ArrayList<Future<Long>>();
      for (int i = 0; i < 2; i++) readers.add(threads.submit(reader(device, end)));
      for (long at = 0; at < end; at += 100) {
        fill(device, ID, 0, at, at + 100);
        if (at % 500 == 0) {
          // Repeats the trim at the bound, so that the device always has a trim to find.
          device.append(new Commit().write(ID, 0, at, data(at), 0, 100).trim(ID, 0, at));
        }
        if (at % 4000 == 0) maintain(device);
      }
      for (var reader : readers) assertTrue(reader.get() > 0);
    }
  }

  private static Callable<Long> reader(Device device, long end) {
    return () -> {
      long rounds = 0;
      long seen = 0;
      while (seen < end - 1) {
        long bound = device.trimmedBefore(ID, 0);
        long last = device.floor(ID, 0, Long.MAX_VALUE);
        if (last < 0) continue;
        assertTrue(last >= Math.max(seen, bound), last + " after " + seen + ", " + bound);
        var expected = new long[] {-1};
        device.scan(
            ID,
            0,
            0,
            last,
            (at, bytes) -> {
              assertFalse(at < bound, () -> at + " was trimmed below " + bound);
              boolean next = at == expected[0] + 1 || device.trimmedBefore(ID, 0) >= at;
              assertTrue(expected[0] < 0 || next, () -> at + " after " + expected[0]);
              assertArrayEquals(data(at), bytes);
              expected[0] = at;
              return true;
            });
        seen = last;
        rounds++;
      }
      return rounds;
    };
  }
}
