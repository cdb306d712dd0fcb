package stoa.storage;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import stoa.base.StreamId;
import stoa.storage.disk.CorruptData;
import stoa.storage.disk.DeviceClosed;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFailed;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.DiskFull;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.disk.ReadFailed;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.disk.StorageException;
import stoa.storage.disk.UnknownFormat;
import stoa.storage.index.RunFormat;
import stoa.storage.segment.Commit;
import stoa.storage.segment.EncodedNumbers;
import stoa.storage.segment.RecordFormat;
import stoa.storage.segment.SegmentHeader;

class DeviceFaultTest {
  private static final StreamId A = StreamId.of("a");

  // The bytes of a nearly full disk that a device of SMALL keeps for trims.
  private static final int RESERVE = 80 << 10;

  private static final DeviceConfig SMALL = new DeviceConfig(8 << 10, 0, 4 << 10, 16 << 10);

  /// Where the data of the first extent of a device's first commit stands.
  private static final int FIRST_DATA =
      SegmentHeader.LEAST + RecordFormat.RECORD_HEADER + RecordFormat.ITEM_HEADER;

  private final SimulatedDisk disk = new SimulatedDisk(1);

  @Test
  void damageToWhatWasDurableIsRefusedWithItsPlaceAndNothingIsChanged() throws IOException {
    fill(0, 3, DeviceConfig.standard());
    loseIndex();
    disk.flip("segment-00000001", FIRST_DATA + 2, 3);
    int changes = disk.changes();
    var error = refused(CorruptData.class, () -> open(DeviceConfig.standard()));
    assertTrue(error.contains("segment-00000001 at 40:"), error);
    assertTrue(error.contains("restore"), error);
    assertEquals(3, disk.changes() - changes, "only the tail as it is, and syncs");
  }

  @Test
  void aTornTailIsDiscardedAndNeverComesBack() throws IOException {
    var config = DeviceConfig.standard().withFillAheadBytes(0);
    long end;
    try (var device = open(config)) {
      put(device, 0, "kept");
      device.sync();
      end = device.stats().logBytes();
      put(device, 1, "torn");
      put(device, 2, "whole, but behind a gap");
    }
    loseIndex();
    disk.flip("segment-00000001", end + 50, 1);
    try (var device = open(config)) {
      assertEquals(0, device.floor(A, 0, 100));
      put(device, 3, "new");
      device.sync();
    }
    loseIndex();
    disk.flip("segment-00000001", end + 50, 1);
    try (var device = open(config)) {
      assertNull(device.read(A, 0, 1));
      assertNull(device.read(A, 0, 2));
      assertArrayEquals("new".getBytes(UTF_8), device.read(A, 0, 3));
      assertEquals(2, device.stats().segments());
    }
  }

  @Test
  void aCleanEndIsContinuedInTheSameSegment() {
    for (int i = 0; i < 10; i++) fill(i, 1, DeviceConfig.standard());
    try (var device = open(DeviceConfig.standard())) {
      assertEquals(1, device.stats().segments());
      assertEquals(9, device.floor(A, 0, 100));
    }
  }

  @Test
  void whatAProcessSyncsInFilesThatAKilledOneLeftSurvivesAPowerLoss() {
    for (int change = 0; change < 12; change++) {
      for (int seed = 0; seed < 12; seed++) {
        var first = new SimulatedDisk(seed);
        first.losePowerAfter(change);
        try (var device = Device.open(first, DeviceConfig.standard(), Runnable::run)) {
          put(device, 0, "zero");
          device.sync();
        } catch (DeviceFailed | ReadFailed e) {
          // Killed on the way.
        }
        var second = first.kill();
        try (var device = Device.open(second, DeviceConfig.standard(), Runnable::run)) {
          put(device, 1, "one");
          device.sync();
        }
        try (var device = Device.open(second.crash(), DeviceConfig.standard(), Runnable::run)) {
          assertArrayEquals("one".getBytes(UTF_8), device.read(A, 0, 1));
        }
      }
    }
  }

  @Test
  void aFlippedBitIsFoundByTheReadAndTheRestStaysReadable() throws IOException {
    try (var device = open(DeviceConfig.standard())) {
      put(device, 0, "zero");
      put(device, 1, "one");
      disk.flip("segment-00000001", FIRST_DATA, 0);
      var error = refused(CorruptData.class, () -> device.read(A, 0, 0));
      assertTrue(error.contains("segment-00000001 at 84:"), error);
      assertArrayEquals("one".getBytes(UTF_8), device.read(A, 0, 1));
    }
  }

  @Test
  void aMissingSegmentIsNamed() throws IOException {
    fill(0, 300, SMALL);
    disk.delete("segment-00000002");
    assertTrue(refused(CorruptData.class, () -> open(SMALL)).contains("segment-00000002"));
  }

  @Test
  void aSegmentCutOffIsNamedWithThePlace() throws IOException {
    fill(0, 300, SMALL);
    disk.cut("segment-00000002", 1000);
    var error = refused(CorruptData.class, () -> open(SMALL));
    assertTrue(error.contains("segment-00000002 at 1000"), error);
  }

  @Test
  void aLastSegmentCutOffBelowWhatTheManifestCoversIsDamage() throws IOException {
    fill(0, 300, SMALL);
    assertTrue(disk.list().contains(DeviceFiles.MANIFEST));
    var last = disk.list().stream().filter(DeviceFiles::isSegment).toList().getLast();
    while (!last.equals("segment-00000001")) {
      disk.delete(last);
      last = disk.list().stream().filter(DeviceFiles::isSegment).toList().getLast();
    }
    assertTrue(refused(CorruptData.class, () -> open(SMALL)).contains("manifest"));
  }

  @Test
  void aForeignFileIsRefused() throws IOException {
    disk.create("holiday.jpg").close();
    var error = refused(UnknownFormat.class, () -> open(SMALL));
    assertTrue(error.contains("holiday.jpg") && error.contains("empty directory"), error);
  }

  @Test
  void anotherFormatVersionIsRefused() throws IOException {
    var header = SegmentHeader.encode(1, 0, List.of(), 8);
    EncodedNumbers.putInt(header, 8, 99);
    EncodedNumbers.putInt(header, 24, RecordFormat.checksum(new CRC32C(), header, 0, 24));
    try (var file = disk.create("segment-00000001")) {
      file.write(0, ByteBuffer.wrap(header));
    }
    assertTrue(refused(UnknownFormat.class, () -> open(SMALL)).contains("version 99"));
  }

  @Test
  void afterAFailedWriteNothingIsTakenUntilTheDeviceIsOpenedAgain() {
    try (var device = open(DeviceConfig.standard())) {
      put(device, 0, "zero");
      disk.failWrite(0);
      refused(DeviceFailed.class, () -> put(device, 1, "one"));
      refused(DeviceFailed.class, () -> put(device, 2, "two"));
      assertArrayEquals("zero".getBytes(UTF_8), device.read(A, 0, 0));
      assertNull(device.read(A, 0, 1));
    }
    try (var device = open(DeviceConfig.standard())) {
      put(device, 2, "two");
      assertArrayEquals("two".getBytes(UTF_8), device.read(A, 0, 2));
    }
  }

  @Test
  void afterAFailedSyncNothingIsSaidToBeDurable() {
    try (var device = open(DeviceConfig.standard())) {
      put(device, 0, "zero");
      disk.failSync(0);
      refused(DeviceFailed.class, device::sync);
      refused(DeviceFailed.class, device::sync);
      refused(DeviceFailed.class, () -> put(device, 1, "one"));
      assertArrayEquals("zero".getBytes(UTF_8), device.read(A, 0, 0));
    }
  }

  @Test
  void opensWhereThereIsNoRoomToWriteTheTailAgain() {
    try (var device = open(SMALL)) {
      put(device, 0, "zero");
    }
    disk.limit(disk.bytes() - 1);
    try (var device = open(SMALL)) {
      assertArrayEquals("zero".getBytes(UTF_8), device.read(A, 0, 0));
    }
  }

  private static Device opened(SimulatedDisk on) {
    return Device.open(on, SMALL, Runnable::run);
  }

  @Test
  void whatAFailedSyncLeftInTheCacheIsDurableOnceTheDeviceIsOpenAgain() {
    for (int seed = 0; seed < 60; seed++) {
      var failing = new SimulatedDisk(seed);
      try (var device = opened(failing)) {
        put(device, 0, "zero");
        device.sync();
        put(device, 1, "one".repeat(300));
        failing.failSync(0);
        refused(DeviceFailed.class, device::sync);
      }
      var killed = failing.kill();
      boolean there;
      try (var device = opened(killed)) {
        there = device.read(A, 0, 1) != null;
        put(device, 2, "two");
        device.sync();
      }
      var crashed = killed.crash();
      try (var device = opened(crashed)) {
        assertEquals(there, device.read(A, 0, 1) != null);
        assertArrayEquals("two".getBytes(UTF_8), device.read(A, 0, 2));
      }
    }
  }

  @Test
  void aFullDiskRefusesCleanlyAndTheDeviceGoesOnOnceThereIsRoom() {
    for (int fill : new int[] {0, 2048}) {
      var config = SMALL.withFillAheadBytes(fill);
      try (var device = open(config)) {
        long before = device.floor(A, 0, 1 << 20) + 1;
        disk.limit(disk.bytes() + 30_000 + RESERVE);
        long written = before;
        boolean full = false;
        while (!full) {
          try {
            put(device, written, "data" + written);
            written++;
          } catch (DiskFull e) {
            full = true;
          }
        }
        assertTrue(written > before + 50);
        long refusedOffset = written;
        for (int i = 0; i < 20; i++) refused(DiskFull.class, () -> put(device, refusedOffset, "x"));
        verify(device, written);
        assertNull(device.read(A, 0, refusedOffset));
        disk.limit(Long.MAX_VALUE);
        for (int i = 0; i < 300; i++, written++) put(device, written, "data" + written);
        device.sync();
        verify(device, written);
      }
      try (var device = open(config)) {
        verify(device, device.floor(A, 0, 1 << 20) + 1);
      }
    }
  }

  @Test
  void aFullMemoryDiskStaysReadable() {
    var memory = new MemoryDisk(2 << 20);
    var config = new DeviceConfig(1 << 20, 0, 8 << 10, 64 << 10);
    try (var device = Device.open(memory, config, Runnable::run)) {
      long written = 0;
      try {
        while (true) {
          put(device, written, "data" + written);
          written++;
        }
      } catch (DiskFull e) {
        assertTrue(written > 5000);
      }
      verify(device, written);
    }
  }

  @Test
  void aDamagedRunIsToldByTheReadAndMadeAgainAtTheNextOpening() throws IOException {
    fill(0, 300, SMALL);
    var run = disk.list().stream().filter(RunFormat::isName).toList().getFirst();
    disk.flip(run, RunFormat.BLOCK + 100, 1);
    try (var device = open(SMALL)) {
      int told = 0;
      for (int i = 0; i < 300; i++) {
        try {
          assertArrayEquals(("data" + i).getBytes(UTF_8), device.read(A, 0, i));
        } catch (CorruptData e) {
          assertTrue(String.valueOf(e.getMessage()).contains(run));
          told++;
        }
      }
      assertTrue(told > 0);
    }
    try (var device = open(SMALL)) {
      verify(device, 300);
    }
  }

  @Test
  void aMergeThatMeetsADamagedRunLeavesTheIndexToBeMadeAgain() throws IOException {
    long written = 0;
    try (var device = open(SMALL)) {
      while (device.stats().runs() < 3) {
        put(device, written, "data" + written);
        written++;
      }
      var run = disk.list().stream().filter(RunFormat::isName).toList().getFirst();
      disk.flip(run, RunFormat.BLOCK + 100, 1);
      for (int i = 0; i < 500; i++, written++) put(device, written, "data" + written);
      device.sync();
      assertFalse(disk.list().contains(DeviceFiles.MANIFEST));
    }
    try (var device = open(SMALL)) {
      verify(device, written);
    }
  }

  @Test
  void aScanThatMeetsADamagedRunLeavesTheIndexToBeMadeAgain() throws IOException {
    fill(0, 300, SMALL);
    var run = disk.list().stream().filter(RunFormat::isName).toList().getFirst();
    disk.flip(run, RunFormat.BLOCK + 100, 1);
    try (var device = open(SMALL)) {
      refused(CorruptData.class, () -> device.scan(A, 0, 0, 1000, (offset, data) -> true));
    }
    try (var device = open(SMALL)) {
      verify(device, 300);
    }
  }

  @Test
  void runsThatAreGoneAreMadeAgain() throws IOException {
    fill(0, 300, SMALL);
    for (var name : disk.list()) {
      if (RunFormat.isName(name)) disk.delete(name);
    }
    try (var device = open(SMALL)) {
      verify(device, 300);
      assertTrue(device.stats().recoveredBytes() > 20_000);
    }
    try (var device = open(SMALL)) {
      verify(device, 300);
      assertTrue(device.stats().recoveredBytes() < 20_000);
    }
  }

  @Test
  void aClosedDeviceSaysSo() {
    var device = open(SMALL);
    put(device, 0, "zero");
    device.close();
    device.close();
    refused(DeviceClosed.class, () -> device.read(A, 0, 0));
    refused(DeviceClosed.class, () -> put(device, 1, "one"));
    refused(DeviceClosed.class, device::sync);
    refused(DeviceClosed.class, () -> device.scan(A, 0, 0, 9, (offset, data) -> true));
  }

  @Test
  void aCommitLargerThanASegmentGetsOneOfItsOwn() {
    var data = new byte[100_000];
    data[99_999] = 9;
    try (var device = open(SMALL)) {
      put(device, 0, "zero");
      device.append(new Commit().write(A, 0, 1, data, 0, data.length));
      put(device, 2, "two");
      device.sync();
    }
    try (var device = open(SMALL)) {
      assertArrayEquals(data, device.read(A, 0, 1));
      assertArrayEquals("two".getBytes(UTF_8), device.read(A, 0, 2));
      assertEquals(3, device.stats().segments());
    }
  }

  @Test
  void aCommitNamesWhatIsWrongWithAnExtent() {
    var commit = new Commit();
    var data = new byte[4];
    assertThrows(IllegalArgumentException.class, () -> commit.write(A, 256, 0, data, 0, 4));
    assertThrows(IllegalArgumentException.class, () -> commit.write(A, -1, 0, data, 0, 4));
    assertThrows(IllegalArgumentException.class, () -> commit.write(A, 0, -1, data, 0, 4));
    assertThrows(IndexOutOfBoundsException.class, () -> commit.write(A, 0, 0, data, 1, 4));
    assertEquals(0, commit.count());
  }

  private Device open(DeviceConfig config) {
    return Device.open(disk, config, Runnable::run);
  }

  private void fill(long from, int count, DeviceConfig config) {
    try (var device = open(config)) {
      for (long i = from; i < from + count; i++) {
        put(device, i, "data" + i);
        device.sync();
      }
    }
  }

  private static void put(Device device, long offset, String text) {
    var data = text.getBytes(UTF_8);
    device.append(new Commit().write(A, 0, offset, data, 0, data.length));
  }

  @Test
  void aDeviceThatWasClosedOpensWithDamageAndMissesItsLastSegment() throws IOException {
    fill(0, 3, DeviceConfig.standard());
    disk.flip("segment-00000001", FIRST_DATA + 2, 3);
    try (var device = open(DeviceConfig.standard())) {
      assertThrows(CorruptData.class, () -> device.read(A, 0, 0));
      assertArrayEquals("data1".getBytes(UTF_8), device.read(A, 0, 1));
    }
    disk.delete("segment-00000001");
    var error = refused(CorruptData.class, () -> open(DeviceConfig.standard()));
    assertTrue(error.contains("no segment"), error);
  }

  /// As after a crash: what the log has must be read again.
  private void loseIndex() throws IOException {
    for (var name : disk.list()) {
      if (RunFormat.isName(name) || name.equals(DeviceFiles.MANIFEST)) disk.delete(name);
    }
  }

  private static void verify(Device device, long written) {
    for (int i = 0; i < written; i++) {
      assertArrayEquals(("data" + i).getBytes(UTF_8), device.read(A, 0, i));
    }
    assertEquals(written - 1, device.floor(A, 0, Long.MAX_VALUE));
  }

  private static String refused(Class<? extends StorageException> kind, Executable action) {
    return String.valueOf(assertThrows(kind, action).getMessage());
  }
}
