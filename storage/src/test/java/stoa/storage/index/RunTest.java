package stoa.storage.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.segment.EntryOrder;

/// Runs of several groups and levels.
class RunTest {
  private record Item(long high, long low, int space, long offset, long position, long length) {}

  private final MemoryDisk disk = new MemoryDisk(256 << 20);
  private final BlockCache cache = new BlockCache(1 << 20);

  @Test
  void findsEachOfManyObjectsWithOneEntry() throws IOException {
    var items = new ArrayList<Item>();
    for (int i = 0; i < 60_000; i++) {
      // Both halves of the unsigned order, and ids that are no hashes.
      long high = i < 20_000 ? 0 : (i - 20_000) * 0x0000_d000_0000_0000L;
      items.add(new Item(high, i * 3L, i % 2, i % 1000, 1_000_000L + i, i % 5000));
    }
    items.sort(RunTest::order);
    verify(items);
  }

  @Test
  void findsEachOfManyEntriesOfFewObjects() throws IOException {
    var items = new ArrayList<Item>();
    for (int object = 0; object < 3; object++) {
      for (int i = 0; i < 60_000; i++) {
        items.add(new Item(object, -1, 255, i * 2L + 1, 90L * i + object, 80));
      }
    }
    verify(items);
  }

  @Test
  void findsEntriesWhereObjectsOfAllSizesMeet() throws IOException {
    var random = new SplittableRandom(5);
    var items = new ArrayList<Item>();
    for (int object = 0; object < 4000; object++) {
      int count = 1 << random.nextInt(9);
      for (int i = 0; i < count; i++) {
        int length = random.nextInt(1 << random.nextInt(1, 31));
        items.add(
            new Item(7, object * 2L, 3, (long) i << 40, random.nextLong(Long.MAX_VALUE), length));
      }
    }
    verify(items);
  }

  @Test
  void aRunOfOneEntryIsARun() throws IOException {
    verify(List.of(new Item(1, 2, 3, Long.MAX_VALUE, Long.MAX_VALUE, Integer.MAX_VALUE)));
  }

  @Test
  void theFilterKeepsAbsentObjectsAwayFromTheLeaves() throws IOException {
    var items = new ArrayList<Item>();
    for (int i = 0; i < 50_000; i++) items.add(new Item(i * 2L, i, 0, 0, i, 1));
    var run = write(items);
    int passed = 0;
    for (int i = 0; i < 50_000; i++) {
      if (run.ceilingLeaf(new BlockCache(4096), i * 2L + 1, i, 0, 0) >= 0) passed++;
    }
    // One in a hundred by the filter, and one in 140 that falls behind a group's last leaf.
    assertTrue(passed < 50_000 / 40, passed + " passed");
  }

  private void verify(List<Item> items) throws IOException {
    var run = write(items);
    assertEquals(items.size(), run.entries());
    var merge = new RunMerge(new Run[] {run});
    Item before = null;
    for (var item : items) {
      assertTrue(merge.next());
      var entry = merge.entry();
      assertEquals(
          item,
          new Item(entry.high, entry.low, entry.space, entry.offset, entry.position, entry.length));
      assertEquals(item, floor(run, item, item.offset()));
      if (item.offset() < Long.MAX_VALUE) assertEquals(item, floor(run, item, item.offset() + 1));
      boolean first = before == null || !sameSeries(before, item);
      if (item.offset() > 0) {
        assertEquals(first ? null : before, floor(run, item, item.offset() - 1));
      }
      before = item;
    }
    assertFalse(merge.next());
    verifyScans(run, items);
  }

  private void verifyScans(Run run, List<Item> items) throws IOException {
    var state = new IndexState(new Memtable(0, 0), new Memtable[0], new Run[] {run});
    for (int i = 0; i < items.size(); i++) {
      var item = items.get(i);
      if (i > 0 && sameSeries(items.get(i - 1), item)) continue;
      // From before the first entry, which may be the first of a leaf or of a group.
      assertTrue(state.acquire());
      try (var scan = scan(state, item, 0)) {
        assertTrue(scan.next());
        assertEquals(item.position(), scan.entry().position);
      }
    }
    int step = Math.max(1, items.size() / 3000);
    for (int i = 0; i < items.size(); i += step) {
      var item = items.get(i);
      assertTrue(state.acquire());
      try (var scan = scan(state, item, item.offset())) {
        for (int j = i; j < Math.min(items.size(), i + 200); j++) {
          var expected = items.get(j);
          if (!sameSeries(expected, item)) {
            assertFalse(scan.next());
            break;
          }
          assertTrue(scan.next());
          assertEquals(expected.position(), scan.entry().position);
          assertEquals(expected.offset(), scan.entry().offset);
        }
      }
      assertTrue(state.acquire());
      var absent = new Item(item.high(), item.low() + 1, item.space() ^ 8, 0, 0, 0);
      try (var scan = scan(state, absent, 0)) {
        assertFalse(scan.next());
      }
      assertEquals(null, floor(run, absent, Long.MAX_VALUE));
    }
  }

  private IndexScan scan(IndexState state, Item series, long from) throws IOException {
    return new IndexScan(
        state,
        cache,
        _ -> {},
        Long.MAX_VALUE,
        series.high(),
        series.low(),
        series.space(),
        from,
        0);
  }

  private @Nullable Item floor(Run run, Item series, long offset) throws IOException {
    var found = new IndexEntry();
    run.floor(cache, series.high(), series.low(), series.space(), offset, found);
    return found.exists()
        ? new Item(
            series.high(), series.low(), series.space(), found.offset, found.position, found.length)
        : null;
  }

  private Run write(List<Item> items) throws IOException {
    try (var file = disk.create(RunFormat.name(1))) {
      var writer = new RunWriter(file, 1);
      for (var item : items) {
        writer.add(
            item.high(),
            item.low(),
            item.space(),
            item.offset(),
            item.position(),
            0,
            item.length(),
            0,
            IndexEntry.DATA);
      }
      return Run.open(disk, 1, writer.finish(0, 1), 0);
    }
  }

  private static boolean sameSeries(Item a, Item b) {
    return a.high() == b.high() && a.low() == b.low() && a.space() == b.space();
  }

  private static int order(Item a, Item b) {
    int bySeries = EntryOrder.compare(a.high(), a.low(), a.space(), b.high(), b.low(), b.space());
    return bySeries != 0 ? bySeries : Long.compare(a.offset(), b.offset());
  }
}
