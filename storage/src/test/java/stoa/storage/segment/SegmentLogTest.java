package stoa.storage.segment;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.disk.CorruptData;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFailed;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.DirectIo;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFull;
import stoa.storage.disk.FileDisk;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.disk.SimulatedDisk;

class SegmentLogTest {
  private static final StreamId A = StreamId.of("a");
  private static final int BLOCK = RecordFormat.BLOCK;
  private static final DeviceConfig SMALL = new DeviceConfig(16 << 10);

  private SimulatedDisk disk = new SimulatedDisk(1);

  /// The arguments of a visit of an item.
  private record Seen(int kind, int space, long offset, long position, int length, int hash) {}

  @ParameterizedTest
  @EnumSource(DirectIo.class)
  void visitsTheItemsOfEachRecordInTheOrderTheyWereWritten(
      DirectIo directIo, @TempDir Path directory) throws IOException {
    var files = new FileDisk(directory);
    var config = new DeviceConfig(1 << 20).withDirectIo(directIo);
    var random = new SplittableRandom(1);
    var expected = new ArrayList<Seen>();
    var data = new ArrayList<byte[]>();
    var log = opened(files, config, new ArrayList<>());
    for (int i = 0; i < 60; i++) {
      var batch = new ArrayList<Commit>();
      for (int j = 0; j <= random.nextInt(4); j++) {
        var commit = new Commit();
        for (int k = 0; k < 1 + random.nextInt(4); k++) add(commit, random, data);
        batch.add(commit);
      }
      log.append(batch);
      for (var commit : batch) commit.visit(item -> expected.add(seen(item)));
      if (i % 7 == 0) log.sync();
      check(log, expected, data);
    }
    assertTrue(log.segments().size() > 3);
    log.close();
    var recovered = new ArrayList<Seen>();
    var again = opened(files, config, recovered);
    assertEquals(expected, recovered);
    check(again, expected, data);
    var visited = new ArrayList<Seen>();
    for (var segment : again.segments()) again.visit(segment, 0, item -> visited.add(seen(item)));
    assertEquals(expected, visited);
    again.append(new Commit().write(A, 0, 1, new byte[9], 0, 9));
    again.close();
  }

  private static void add(Commit commit, SplittableRandom random, List<byte[]> data) {
    int number = data.size();
    var bytes = new byte[1 + random.nextInt(random.nextBoolean() ? 300 : 60_000)];
    random.nextBytes(bytes);
    data.add(bytes);
    switch (random.nextInt(3)) {
      case 0 -> commit.write(A, 7, number, bytes, 0, bytes.length);
      case 1 -> commit.note(2 + random.nextInt(126), A, 0, number, bytes, 0, bytes.length);
      default -> {
        var direct = ByteBuffer.allocateDirect(bytes.length + 5).position(5).put(bytes);
        var source = random.nextBoolean() ? direct.position(5) : ByteBuffer.wrap(bytes);
        commit.data(A, 255, number, source);
        assertEquals(bytes.length, source.remaining());
      }
    }
  }

  private static Seen seen(Item item) {
    int hash = item.kind == RecordFormat.ITEM_DATA ? 0 : Arrays.hashCode(item.data());
    return new Seen(item.kind, item.space, item.offset, item.position, item.length, hash);
  }

  private static void check(SegmentLog log, List<Seen> items, List<byte[]> data) {
    for (var item : items.subList(Math.max(0, items.size() - 20), items.size())) {
      var bytes = data.get((int) item.offset());
      if (item.kind() == RecordFormat.ITEM_DATA) {
        assertArrayEquals(bytes, read(log, item.position(), 0, bytes.length));
        int from = bytes.length / 3;
        int to = bytes.length - bytes.length / 4;
        assertArrayEquals(
            Arrays.copyOfRange(bytes, from, to), read(log, item.position(), from, to - from));
      } else if (item.kind() == RecordFormat.ITEM_RECORD) {
        assertArrayEquals(
            bytes, log.read(item.position(), bytes.length, A.high(), A.low(), 7, item.offset()));
      }
    }
  }

  private static byte[] read(SegmentLog log, long position, long skip, int length) {
    var target = ByteBuffer.allocate(length);
    log.readData(position, skip, target);
    return target.array();
  }

  @Test
  void readsAnyPartOfALongItem() throws IOException {
    for (int length : new int[] {1, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 77, 70 * BLOCK}) {
      disk = new SimulatedDisk(length);
      disk.readShort();
      var bytes = random(length);
      var log = opened(disk, DeviceConfig.standard(), new ArrayList<>());
      long position = append(log, bytes);
      var random = new SplittableRandom(length);
      for (int i = 0; i < 100; i++) {
        int from = random.nextInt(length);
        int to = from + 1 + random.nextInt(length - from);
        if (i % 3 == 0) from = from / BLOCK * BLOCK;
        if (i % 5 == 0) to = length;
        assertArrayEquals(
            Arrays.copyOfRange(bytes, from, to), read(log, position, from, to - from));
      }
      assertThrows(CorruptData.class, () -> read(log, position, 0, length + 1));
      assertThrows(CorruptData.class, () -> read(log, position, length, 1));
      log.close();
    }
  }

  @Test
  void aFlippedBitIsToldByReadsOfItsBlockAndByNoOthers() throws IOException {
    int blocks = 70;
    int length = blocks * BLOCK - 100;
    var bytes = random(length);
    var log = opened(disk, DeviceConfig.standard(), new ArrayList<>());
    long position = append(log, bytes);
    var random = new SplittableRandom(3);
    for (int block = 0; block < blocks; block++) {
      int inBlock = Math.min(BLOCK, length - block * BLOCK);
      long place = position + RecordFormat.ITEM_HEADER + (long) block * RecordFormat.STORED_BLOCK;
      long flipped = place + random.nextInt(inBlock + 4);
      disk.flip("segment-00000001", flipped, 5);
      int start = block * BLOCK;
      var error = assertThrows(CorruptData.class, () -> read(log, position, start, inBlock));
      assertTrue(String.valueOf(error.getMessage()).contains("segment-00000001 at " + place + ":"));
      assertThrows(CorruptData.class, () -> read(log, position, start + inBlock / 2, 1));
      assertArrayEquals(Arrays.copyOf(bytes, start), read(log, position, 0, start));
      int rest = length - start - inBlock;
      assertArrayEquals(
          Arrays.copyOfRange(bytes, length - rest, length),
          read(log, position, length - rest, rest));
      disk.flip("segment-00000001", flipped, 5);
    }
    assertArrayEquals(bytes, read(log, position, 0, length));
  }

  @Test
  void aBlockFromAnotherPlaceIsRefused() throws IOException {
    var log = opened(disk, DeviceConfig.standard(), new ArrayList<>());
    var bytes = random(3 * BLOCK);
    System.arraycopy(bytes, 0, bytes, BLOCK, BLOCK);
    long first = append(log, bytes);
    long second = append(log, bytes);
    try (var file = disk.open("segment-00000001")) {
      long from = first + RecordFormat.ITEM_HEADER;
      var block = new byte[RecordFormat.STORED_BLOCK];
      assertTrue(SegmentLog.readFully(file, from, block, 0, block.length));
      // Of the same item, where the same bytes stand; and of another with the same bytes.
      file.write(from + RecordFormat.STORED_BLOCK, ByteBuffer.wrap(block));
      file.write(second + RecordFormat.ITEM_HEADER, ByteBuffer.wrap(block));
    }
    assertArrayEquals(Arrays.copyOf(bytes, BLOCK), read(log, first, 0, BLOCK));
    assertThrows(CorruptData.class, () -> read(log, first, BLOCK, 10));
    assertThrows(CorruptData.class, () -> read(log, second, 0, 10));
    assertThrows(CorruptData.class, () -> read(log, first + 8, 0, 10));
  }

  @Test
  void aVisitGoesOnBehindDamageAndNamesIt() throws IOException {
    var log = opened(disk, DeviceConfig.standard(), new ArrayList<>());
    var positions = new ArrayList<Long>();
    for (int i = 0; i < 10; i++) positions.add(append(log, random(9000 + i)));
    long damagedHeader = positions.get(3) - RecordFormat.RECORD_HEADER;
    long damagedBlock = positions.get(6) + RecordFormat.ITEM_HEADER + RecordFormat.STORED_BLOCK;
    disk.flip("segment-00000001", damagedHeader + 9, 1);
    disk.flip("segment-00000001", damagedBlock + 99, 1);
    var seen = new ArrayList<Long>();
    var told = new ArrayList<String>();
    var segment = log.segments().getFirst();
    log.visit(
        segment,
        0,
        item -> seen.add(item.position),
        damage -> told.add(String.valueOf(damage.getMessage())));
    positions.remove(6);
    positions.remove(3);
    assertEquals(positions, seen);
    assertEquals(2, told.size());
    assertTrue(told.getFirst().startsWith("segment-00000001 at " + damagedHeader + ":"));
    assertTrue(told.getLast().startsWith("segment-00000001 at " + damagedBlock + ":"));
    assertThrows(CorruptData.class, () -> log.visit(segment, 0, item -> {}));
  }

  @Test
  void manySegmentsAreReadWithFewFilesOpen(@TempDir Path directory) throws Exception {
    var files = new FileDisk(directory);
    int openMax = 4;
    var log = SegmentLog.open(files, SMALL, files.list(), openMax);
    log.recover(0, item -> {});
    var positions = new ArrayList<Long>();
    for (int i = 0; i < 60; i++) positions.add(append(log, random(9000 + i)));
    assertTrue(log.segments().size() > 50);
    Callable<Boolean> reader =
        () -> {
          var random = new SplittableRandom(5);
          for (int i = 0; i < 2000; i++) {
            int which = random.nextInt(60);
            assertArrayEquals(
                random(9000 + which), read(log, positions.get(which), 0, 9000 + which));
            assertTrue(log.openFiles() <= openMax);
          }
          return true;
        };
    try (var threads = Executors.newFixedThreadPool(3)) {
      for (var done : threads.invokeAll(List.of(reader, reader, reader))) assertTrue(done.get());
    }
    log.close();
  }

  @Test
  void retiredSegmentsAreGoneForGoodAndTheRestIsRead() throws IOException {
    var log = opened(disk, SMALL, new ArrayList<>());
    var positions = new ArrayList<Long>();
    for (int i = 0; i < 8; i++) positions.add(append(log, random(9000 + i)));
    assertEquals(8, log.segments().size());
    assertThrows(IllegalArgumentException.class, () -> log.retire(List.of(8)));
    assertThrows(IllegalArgumentException.class, () -> log.retire(List.of(1, 77)));
    log.retire(List.of(1, 3, 4));
    for (int number : new int[] {1, 3, 4}) {
      assertFalse(disk.list().contains(DeviceFiles.segment(number)));
      long position = positions.get(number - 1);
      assertThrows(Retired.class, () -> read(log, position, 0, 10));
      assertThrows(Retired.class, () -> log.read(position, 10, 0, 0, 0, 0));
    }
    long last = append(log, random(100));
    log.sync();
    log.close();
    var seen = new ArrayList<Seen>();
    var again = opened(disk, SMALL, seen);
    assertEquals(
        List.of(2, 5, 6, 7, 8, 9), again.segments().stream().map(Segment::number).toList());
    assertEquals(6, seen.size());
    assertArrayEquals(random(9001), read(again, positions.get(1), 0, 9001));
    assertArrayEquals(random(100), read(again, last, 0, 100));
    again.close();
    disk.delete(DeviceFiles.segment(6));
    var error = assertThrows(CorruptData.class, () -> opened(disk, SMALL, new ArrayList<>()));
    assertTrue(String.valueOf(error.getMessage()).startsWith("segment-00000006 at 0: the file is"));
  }

  @Test
  void aPowerLossWhileSegmentsAreRetiredLosesNothingThatIsLive() throws IOException {
    for (int seed = 0; seed < 40; seed++) {
      int change = 0;
      while (retireWithPowerLoss(seed, change)) change++;
      assertTrue(change > 8, "retiring took " + change + " changes");
    }
  }

  /// Answers whether the power was lost on the way.
  private static boolean retireWithPowerLoss(int seed, int change) throws IOException {
    var before = new SimulatedDisk(seed);
    var log = opened(before, SMALL, new ArrayList<>());
    var positions = new ArrayList<Long>();
    for (int i = 0; i < 6; i++) positions.add(append(log, random(9000 + i)));
    log.sync();
    before.losePowerAfter(change);
    boolean lost = false;
    try {
      log.retire(List.of(1, 3));
      log.retire(List.of(4));
      append(log, random(100));
    } catch (DeviceFailed e) {
      lost = true;
    }
    // Killed or without power, and once more while it is opened.
    var after = (change + seed) % 3 == 0 ? before.kill() : before.crash();
    after.losePowerAfter(seed % 7);
    try {
      opened(after, SMALL, new ArrayList<>()).close();
    } catch (IOException e) {
      // Opened below.
    }
    after = after.crash();
    var again = opened(after, SMALL, new ArrayList<>());
    for (int i : new int[] {1, 4, 5}) {
      assertArrayEquals(random(9000 + i), read(again, positions.get(i), 0, 9000 + i));
    }
    var live = again.segments().stream().map(Segment::name).toList();
    assertEquals(live, after.list().stream().filter(DeviceFiles::isSegment).toList());
    for (int i : new int[] {0, 2, 3}) {
      if (live.contains(DeviceFiles.segment(i + 1))) {
        assertArrayEquals(random(9000 + i), read(again, positions.get(i), 0, 9000 + i));
      } else {
        assertThrows(Retired.class, () -> read(again, positions.get(i), 0, 9000));
      }
    }
    long next = append(again, random(5));
    again.sync();
    again.close();
    var reopened = opened(after.crash(), SMALL, new ArrayList<>());
    assertArrayEquals(random(5), read(reopened, next, 0, 5));
    reopened.close();
    return lost;
  }

  @Test
  void afterAPowerLossWholeRecordsWithEverythingSyncedAreThere() throws IOException {
    for (int seed = 0; seed < 150; seed++) {
      var random = new SplittableRandom(seed);
      var before = new SimulatedDisk(seed);
      var config = SMALL.withFillAheadBytes(random.nextBoolean() ? 0 : 4096);
      var written = new ArrayList<List<Seen>>();
      var data = new ArrayList<byte[]>();
      before.losePowerAfter(random.nextInt(60));
      int durable = 0;
      try {
        var log = opened(before, config, new ArrayList<>());
        while (true) {
          var batch = new ArrayList<Commit>();
          for (int i = 0; i <= random.nextInt(3); i++) {
            var commit = new Commit();
            for (int j = 0; j <= random.nextInt(3); j++) add(commit, random, data);
            batch.add(commit);
            written.add(new ArrayList<>());
          }
          int first = written.size() - batch.size();
          try {
            log.append(batch);
          } finally {
            for (int i = 0; i < batch.size(); i++) {
              var seen = written.get(first + i);
              batch.get(i).visit(item -> seen.add(seen(item)));
            }
          }
          if (random.nextInt(3) > 0) continue;
          log.sync();
          durable = written.size();
        }
      } catch (DeviceFailed | IOException e) {
        // The power is off.
      }
      var recovered = new ArrayList<List<Seen>>();
      var one = new ArrayList<Seen>();
      var after = before.crash();
      var log = SegmentLog.open(after, config, after.list());
      log.recover(
          0,
          new ItemVisitor() {
            @Override
            public void item(Item item) {
              one.add(seen(item));
            }

            @Override
            public void recordEnd(long position, long next) {
              recovered.add(List.copyOf(one));
              one.clear();
            }
          });
      assertEquals(List.of(), one);
      assertTrue(recovered.size() >= durable, recovered.size() + " of " + durable);
      for (int i = 0; i < recovered.size(); i++) {
        assertEquals(written.get(i).size(), recovered.get(i).size());
      }
      if (durable > 0) assertEquals(written.subList(0, durable), recovered.subList(0, durable));
      for (var record : recovered) check(log, record, data);
      log.close();
    }
  }

  @Test
  void readersBesideRetiringGetDataOrAreToldThatItMoved(@TempDir Path directory) throws Exception {
    var files = new FileDisk(directory);
    var log = opened(files, SMALL, new ArrayList<>());
    var positions = new ArrayList<Long>();
    int count = 120;
    for (int i = 0; i < count; i++) positions.add(append(log, random(9000 + i)));
    var done = new AtomicBoolean();
    Callable<Boolean> reader =
        () -> {
          var random = new SplittableRandom(1);
          boolean moved = false;
          while (!done.get() || !moved) {
            int which = random.nextInt(count);
            try {
              assertArrayEquals(
                  random(9000 + which), read(log, positions.get(which), 0, 9000 + which));
            } catch (Retired e) {
              moved = true;
            }
          }
          return true;
        };
    Callable<Boolean> retirer =
        () -> {
          try {
            for (int i = 1; i < count; i += 3) log.retire(List.of(i, i + 1));
          } finally {
            done.set(true);
          }
          return true;
        };
    try (var threads = Executors.newFixedThreadPool(3)) {
      for (var each : threads.invokeAll(List.of(reader, reader, retirer))) assertTrue(each.get());
    }
    log.close();
  }

  @Test
  void onlySmallDurableCommitsAreFilledAheadOf() throws IOException {
    var log = opened(disk, DeviceConfig.standard(), new ArrayList<>());
    for (int i = 0; i < 300; i++) {
      append(log, random(4 * BLOCK));
      log.sync();
      assertEquals(log.end(), disk.bytes());
    }
    for (int i = 0; i < 300; i++) {
      for (int j = 0; j < 120; j++) append(log, random(200));
      log.sync();
    }
    assertEquals(log.end(), disk.bytes());
    int filled = 0;
    for (int i = 0; i < 300; i++) {
      append(log, random(i < 150 ? 200 : 2 * BLOCK));
      log.sync();
      if (disk.bytes() > log.end()) filled++;
    }
    assertTrue(filled > 150, filled + " of 300");
    log.close();
  }

  @Test
  void aDiskWithoutDirectIoRefusesIt() {
    var config = DeviceConfig.standard().withDirectIo(DirectIo.ON);
    var error =
        assertThrows(
            UnsupportedOperationException.class,
            () -> Device.open(new MemoryDisk(1 << 20), config));
    assertTrue(String.valueOf(error.getMessage()).contains("OFF"));
  }

  @Test
  void aCommitNamesWhatIsWrongWithANoteOrData() {
    var commit = new Commit();
    assertThrows(IllegalArgumentException.class, () -> commit.note(1, A, 0, 0, new byte[1], 0, 1));
    assertThrows(
        IllegalArgumentException.class, () -> commit.note(128, A, 0, 0, new byte[1], 0, 1));
    assertThrows(
        IllegalArgumentException.class, () -> commit.data(A, 0, 0, ByteBuffer.allocate(0)));
    assertThrows(
        IllegalArgumentException.class,
        () -> commit.data(A, 0, 0, ByteBuffer.allocate(Commit.DATA_BYTES_MAX + 1)));
    assertEquals(0, commit.count());
  }

  @Test
  void aFullDiskRefusesAWholeBatch() throws IOException {
    var log = opened(disk, DeviceConfig.standard(), new ArrayList<>());
    long first = append(log, random(50_000));
    disk.limit(disk.bytes() + (3 << 20));
    var batch = new ArrayList<Commit>();
    for (int i = 0; i < 4; i++) {
      var commit = new Commit();
      commit.data(A, 128, i, ByteBuffer.wrap(random(1 << 20)));
      batch.add(commit);
    }
    assertThrows(DiskFull.class, () -> log.append(batch));
    long end = log.end();
    log.append(batch.subList(0, 2));
    assertEquals(end, batch.getFirst().position());
    log.sync();
    assertArrayEquals(random(50_000), read(log, first, 0, 50_000));
    log.close();
    var seen = new ArrayList<Seen>();
    opened(disk, DeviceConfig.standard(), seen).close();
    assertEquals(3, seen.size());
  }

  private static SegmentLog opened(Disk disk, DeviceConfig config, List<Seen> recovered)
      throws IOException {
    var log = SegmentLog.open(disk, config, disk.list());
    try {
      log.recover(0, item -> recovered.add(seen(item)));
      return log;
    } catch (IOException | RuntimeException e) {
      log.close();
      throw e;
    }
  }

  private static long append(SegmentLog log, byte[] data) {
    var commit = new Commit();
    int place = commit.data(A, 128, 0, ByteBuffer.wrap(data));
    return log.append(commit) + place;
  }

  /// Bytes that follow from their number.
  private static byte[] random(int length) {
    var bytes = new byte[length];
    new SplittableRandom(length).nextBytes(bytes);
    return bytes;
  }
}
