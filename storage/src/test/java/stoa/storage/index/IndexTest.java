package stoa.storage.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import stoa.base.StreamId;
import stoa.storage.disk.CorruptData;
import stoa.storage.disk.DeviceClosed;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.segment.Commit;
import stoa.storage.segment.SegmentLog;

class IndexTest {
  private static final int SPACE = 128;
  private static final DeviceConfig SMALL = new DeviceConfig(1 << 20, 0, 64 << 10, 64 << 10);
  private static final DeviceConfig LARGE = new DeviceConfig(1 << 20, 0, 64 << 20, 64 << 10);

  private final SimulatedDisk disk = new SimulatedDisk(1);
  private final IndexEntry found = new IndexEntry();
  private long born;

  /// An index and its log, to which each step adds a record.
  private final class Fixture implements AutoCloseable {
    private final SegmentLog log;
    private final Index index;
    private long stamp;

    Fixture(SimulatedDisk disk, DeviceConfig config) throws IOException {
      log = SegmentLog.open(disk, config, disk.list());
      index = Index.open(disk, config, log, Runnable::run, (view, high, low) -> born, disk.list());
      log.recover(0, item -> {});
      index.publish(log.end());
    }

    long record() {
      index.awaitRoom();
      stamp = log.append(new Commit().write(new StreamId(9, 9), 0, 0, new byte[1], 0, 1));
      return stamp;
    }

    void insert(long object, long offset) {
      record();
      index.insert(
          0, object, SPACE, stamp, new IndexEntry().set(offset, stamp, 0, 1, 1, IndexEntry.DATA));
      show();
    }

    void remove(long object, long offset) {
      index.remove(0, object, SPACE, offset, record());
      show();
    }

    void show() {
      if (index.publish(log.end())) index.flushSoon();
    }

    /// Writes entries of another object until all earlier ones are in runs.
    void flush() {
      long covered = log.end();
      int i = 0;
      do insert(77, i++);
      while (index.covered() <= covered);
    }

    IndexView view() {
      return index.view(log.end());
    }

    @Override
    public void close() {
      index.close();
      log.close();
    }
  }

  @Test
  void floorPassesOverALongRunOfRemovedEntries() throws IOException {
    int count = 100_000;
    try (var fixture = new Fixture(disk, SMALL)) {
      for (int i = 0; i < count; i++) fixture.insert(1, i);
      for (int i = 5; i < count; i++) fixture.remove(1, i);
      for (int i = count / 2; i < count; i++) fixture.remove(1, 3L * count - i);
      try (var view = fixture.view()) {
        for (long offset : new long[] {5, 6, count / 2, count - 1, count, 3L * count}) {
          assertTrue(view.floor(0, 1, SPACE, offset, found));
          assertEquals(4, found.offset);
        }
        assertFalse(view.floor(0, 2, SPACE, count, found));
        try (var scan = view.scan(0, 1, SPACE, 4)) {
          assertTrue(scan.next());
          assertFalse(scan.next());
        }
      }
      for (int i = 0; i < 5; i++) fixture.remove(1, i);
      try (var view = fixture.view()) {
        assertFalse(view.floor(0, 1, SPACE, Long.MAX_VALUE, found));
        assertFalse(found.exists());
      }
    }
  }

  @Test
  void removedEntriesLeaveTheRunsWithWhatTheyHide() throws IOException {
    try (var fixture = new Fixture(disk, SMALL)) {
      for (int i = 0; i < 3000; i++) fixture.insert(1, i);
      for (int i = 0; i < 3000; i++) fixture.remove(1, i);
      // Until the run with the removals has met the oldest one.
      long merges = fixture.index.merges();
      while (fixture.index.merges() < merges + 30) fixture.flush();
      assertEquals(List.of(), entries(fixture, 1));
      long others = entries(fixture, 77).size();
      assertTrue(
          fixture.index.runEntries() <= others + 3000,
          fixture.index.runEntries() + " entries, of which " + others + " count");
    }
  }

  @Test
  void anIndexOfNothingButRemovalsIsWrittenAndReadAgain() throws IOException {
    try (var fixture = new Fixture(disk, SMALL)) {
      while (fixture.index.flushes() < 1) fixture.remove(1, 5);
      assertEquals(0, fixture.index.runEntries());
      fixture.log.sync();
    }
    try (var fixture = new Fixture(disk, SMALL);
        var view = fixture.view()) {
      assertTrue(fixture.index.covered() > 0);
      assertFalse(view.floor(0, 1, SPACE, Long.MAX_VALUE, found));
      assertFalse(view.walk().next());
    }
  }

  @Test
  void entriesOfADeletedObjectLeaveTheRuns() throws IOException {
    try (var fixture = new Fixture(disk, SMALL)) {
      for (int i = 0; i < 3000; i++) fixture.insert(1, i);
      born = fixture.log.end();
      fixture.insert(1, 1234);
      fixture.flush();
      long merges = fixture.index.merges();
      while (fixture.index.merges() < merges + 30) fixture.flush();
      assertEquals(List.of(1234L), entries(fixture, 1));
    }
  }

  @Test
  void aMergeLeavesWhatAHeldViewSees() throws IOException {
    try (var fixture = new Fixture(disk, SMALL)) {
      for (int i = 0; i < 3000; i++) fixture.insert(1, i);
      try (var view = fixture.view()) {
        for (int i = 0; i < 3000; i++) fixture.remove(1, i);
        long merges = fixture.index.merges();
        while (fixture.index.merges() < merges + 10) fixture.flush();
        for (int i = 0; i < 3000; i++) {
          assertTrue(view.floor(0, 1, SPACE, i, found));
          assertEquals(i, found.offset);
        }
      }
      assertEquals(List.of(), entries(fixture, 1));
    }
  }

  @Test
  void theInsertingThreadSeesWhatItInsertedAndOthersTheWholeRecord() throws IOException {
    try (var fixture = new Fixture(disk, SMALL)) {
      fixture.insert(1, 0);
      long stamp = fixture.record();
      try (var writer = fixture.index.view(Long.MAX_VALUE);
          var before = fixture.view()) {
        fixture.index.insert(
            0, 1, SPACE, stamp, new IndexEntry().set(5, stamp, 0, 1, 2, IndexEntry.DATA));
        assertTrue(writer.floor(0, 1, SPACE, 9, found));
        assertEquals(5, found.offset);
        fixture.index.remove(0, 1, SPACE, 5, stamp);
        fixture.index.insert(
            0, 1, SPACE, stamp, new IndexEntry().set(6, 0, 0, 7, 3, IndexEntry.HOLE));
        assertTrue(writer.floor(0, 1, SPACE, 5, found));
        assertEquals(0, found.offset);
        assertTrue(writer.floor(0, 1, SPACE, 6, found));
        assertTrue(found.isHole());
        assertTrue(before.floor(0, 1, SPACE, 9, found));
        assertEquals(0, found.offset);
        fixture.show();
        assertTrue(before.floor(0, 1, SPACE, 9, found));
        assertEquals(0, found.offset);
      }
      assertEquals(List.of(0L, 6L), entries(fixture, 1));
    }
  }

  @Test
  void anIndexOfManyRunsEqualsOneInTheHeap() throws IOException {
    var random = new SplittableRandom(4);
    try (var grown = new Fixture(disk, SMALL);
        var other = new Fixture(new SimulatedDisk(2), LARGE)) {
      for (int i = 0; i < 50_000; i++) {
        long object = random.nextInt(50);
        long offset = random.nextInt(500);
        boolean removes = random.nextInt(3) == 0;
        for (var fixture : List.of(grown, other)) {
          if (removes) fixture.remove(object, offset);
          else fixture.insert(object, offset);
        }
      }
      assertTrue(grown.index.merges() > 3 && other.index.runCount() == 0);
      try (var view = grown.view();
          var same = other.view()) {
        assertEquals(all(view), all(same));
      }
    }
  }

  @Test
  void aWalkGoesOnToTheNextObject() throws IOException {
    try (var fixture = new Fixture(disk, SMALL)) {
      for (int i = 0; i < 20_000; i++) fixture.insert(i % 4, i);
      for (int i = 0; i < 100; i++) fixture.insert(1000 + i, 0);
      try (var view = fixture.view()) {
        var objects = new ArrayList<Long>();
        var walk = view.walk();
        while (walk.next()) {
          objects.add(walk.low());
          walk.skipObject();
        }
        assertEquals(104, objects.size());
        assertEquals(List.of(0L, 1L, 2L, 3L, 1000L), objects.subList(0, 5));
      }
    }
  }

  @Test
  void damageIsToldByEveryKindOfLookupAndTheIndexIsMadeAgain() throws IOException {
    for (int kind = 0; kind < 4; kind++) {
      var damaged = new SimulatedDisk(kind);
      int lookup = kind;
      try (var fixture = new Fixture(damaged, SMALL)) {
        for (int i = 0; i < 2000; i++) fixture.insert(1, i);
        fixture.flush();
        for (int i = 20; i > 15; i--) fixture.remove(1, i);
        var run = damaged.list().stream().filter(RunFormat::isName).toList().getFirst();
        for (int block = 1; block < 3; block++) {
          damaged.flip(run, (long) block * RunFormat.BLOCK + 100, 1);
        }
        try (var view = fixture.view()) {
          refused(
              run,
              () -> {
                switch (lookup) {
                  case 0 -> view.floor(0, 1, SPACE, 10, found);
                  case 1 -> view.floor(0, 1, SPACE, 20, found);
                  case 2 -> view.scan(0, 1, SPACE, 0).next();
                  default -> view.walk().next();
                }
              });
        }
        assertFalse(damaged.list().contains(DeviceFiles.MANIFEST));
        long flushes = fixture.index.flushes();
        for (int i = 0; i < 3000; i++) fixture.insert(2, i);
        assertTrue(fixture.index.flushes() > flushes, "damage holds up what is written");
        fixture.log.sync();
      }
      try (var fixture = new Fixture(damaged, SMALL)) {
        assertEquals(0, fixture.index.covered());
      }
    }
  }

  @Test
  void aClosedIndexSaysSo() throws IOException {
    var fixture = new Fixture(disk, SMALL);
    for (int i = 0; i < 2000; i++) fixture.insert(1, i);
    fixture.close();
    assertThrows(DeviceClosed.class, () -> fixture.view());
    assertThrows(DeviceClosed.class, () -> fixture.index.floor(0, 1, SPACE, 1, new IndexEntry()));
  }

  @Test
  void aRecordSpaceTakesNoVersionedEntry() throws IOException {
    try (var fixture = new Fixture(disk, SMALL)) {
      long stamp = fixture.record();
      assertThrows(
          IndexOutOfBoundsException.class, () -> fixture.index.remove(0, 1, 127, 0, stamp));
      assertThrows(
          IndexOutOfBoundsException.class, () -> fixture.index.remove(0, 1, 256, 0, stamp));
    }
  }

  private static void refused(String run, Executable lookup) {
    var message = String.valueOf(assertThrows(CorruptData.class, lookup).getMessage());
    assertTrue(message.contains(run), message);
  }

  private static List<Long> entries(Fixture fixture, long object) throws IOException {
    var offsets = new ArrayList<Long>();
    try (var view = fixture.view();
        var scan = view.scan(0, object, SPACE, 0)) {
      while (scan.next()) offsets.add(scan.entry().offset);
    }
    return offsets;
  }

  private static List<String> all(IndexView view) throws IOException {
    var all = new ArrayList<String>();
    view.walk((high, low, space, entry) ->
        all.add(
            "%d %d %d %d: %d %d %d %d %d"
                .formatted(
                    high,
                    low,
                    space,
                    entry.offset,
                    entry.position,
                    entry.skip,
                    entry.length,
                    entry.version,
                    entry.mark)));
    return all;
  }
}
