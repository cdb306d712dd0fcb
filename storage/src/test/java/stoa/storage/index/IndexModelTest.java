package stoa.storage.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.base.StreamId;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.segment.Commit;
import stoa.storage.segment.EntryOrder;
import stoa.storage.segment.SegmentLog;

/// Random entries, removals and deletions, flushes and merges at random points, held against a map
/// that forgets nothing.
class IndexModelTest {
  private static final int ROUNDS = Integer.getInteger("stoa.storage.indexrounds", 15);
  private static final int STEPS = 2500;
  private static final int[] SPACES = {0, 7, 127, 128, 130, 255};
  private static final long[] OFFSETS = {0, 1, 4096, 1L << 40, Long.MAX_VALUE - 1, Long.MAX_VALUE};

  private record Series(long high, long low, int space) implements Comparable<Series> {
    @Override
    public int compareTo(Series other) {
      return EntryOrder.compare(high, low, space, other.high, other.low, other.space);
    }
  }

  private record Value(long position, int skip, long length, long version, int mark) {
    static Value of(IndexEntry entry) {
      return new Value(entry.position, entry.skip, entry.length, entry.version, entry.mark);
    }
  }

  /// The values that a reader must see for as long as it holds a view.
  private record Held(IndexView view, long limit, Map<StreamId, Long> births) {}

  private record Step(long stamp, Series series, long offset, Value value) {}

  private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();

  /// By series, offset and stamp.
  private final TreeMap<Series, TreeMap<Long, TreeMap<Long, Value>>> model = new TreeMap<>();

  private final List<Step> steps = new ArrayList<>();
  private final HashMap<StreamId, TreeMap<Long, Long>> deaths = new HashMap<>();
  private final ArrayDeque<Held> held = new ArrayDeque<>();
  private long lastPosition;
  private long opened; // where the log ended then
  private long runEntriesSeen;
  private long flushesSeen;
  private long mergesSeen;
  private long removalsPassed;

  @Test
  void everyReaderSeesExactlyTheMomentItAskedFor() throws IOException {
    for (int round = 0; round < ROUNDS; round++) {
      try {
        run(new SplittableRandom(round));
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("round " + round, e);
      }
    }
    assertTrue(flushesSeen > 5L * ROUNDS && mergesSeen > ROUNDS, flushesSeen + ", " + mergesSeen);
    assertTrue(runEntriesSeen > 100L * ROUNDS && removalsPassed > 100L * ROUNDS);
  }

  private void run(SplittableRandom random) throws IOException {
    model.clear();
    steps.clear();
    deaths.clear();
    tasks.clear();
    lastPosition = 0;
    var disk = new SimulatedDisk(random.nextLong());
    var config = new DeviceConfig(1 << 20, 0, 4 << 10, 64 << 10);
    var series = series(random);
    int width = 1 << random.nextInt(1, 9);
    var log = SegmentLog.open(disk, config, disk.list());
    var index = Index.open(disk, config, log, tasks::add, this::birth, disk.list());
    recover(log, index);
    for (int i = 0; i < STEPS; i++) {
      int records = random.nextInt(1, 4);
      long stamp = log.append(new Commit().write(new StreamId(9, 9), 0, i, new byte[8], 0, 8));
      for (int j = 0; j < records; j++) {
        insert(index, random, stamp, series.get(random.nextInt(series.size())), width);
      }
      if (random.nextInt(200) == 0) delete(log, stamp, series.get(random.nextInt(series.size())));
      verifyWriter(index, random, series, width);
      if (index.publish(log.end())) index.flushSoon();
      index.awaitRoom();
      if (random.nextInt(20) == 0) runOne();
      if (random.nextInt(10) == 0) hold(index, log, random);
      while (held.size() > random.nextInt(1, 8)) release(random, series, width);
      if (random.nextInt(700) == 0) {
        log.sync();
        while (runOne()) {}
        while (!held.isEmpty()) release(random, series, width);
        count(index);
        index.close();
        log.close();
        log = SegmentLog.open(disk, config, disk.list());
        index = Index.open(disk, config, log, tasks::add, this::birth, disk.list());
        recover(log, index);
      }
    }
    while (runOne()) {}
    while (!held.isEmpty()) release(random, series, width);
    count(index);
    try (var view = index.view(log.end())) {
      verifyAll(view, births(log.end()));
    }
    index.close();
    log.close();
  }

  private void count(Index index) {
    flushesSeen += index.flushes();
    mergesSeen += index.merges();
    runEntriesSeen += index.runEntries();
  }

  private boolean runOne() {
    var task = tasks.poll();
    if (task != null) task.run();
    return task != null;
  }

  private void recover(SegmentLog log, Index index) throws IOException {
    long covered = index.covered();
    log.recover(covered, item -> {});
    opened = log.end();
    for (var step : steps) {
      if (step.stamp() < covered) continue;
      put(index, step);
      index.publish(step.stamp() + 1);
      index.awaitRoom();
    }
    if (index.publish(log.end())) index.flushNow();
  }

  private static List<Series> series(SplittableRandom random) {
    var series = new ArrayList<Series>();
    int objects = 1 << random.nextInt(7);
    for (int i = 0; i < objects; i++) {
      long high = (random.nextInt(3) - 1) * 0x4000_0000_0000_0000L;
      long low = random.nextInt(-3, 4);
      series.add(new Series(high, low, SPACES[random.nextInt(SPACES.length)]));
    }
    return series;
  }

  private static long offset(SplittableRandom random, int width) {
    int i = random.nextInt(width + OFFSETS.length);
    return i < width ? i * 3L : OFFSETS[i - width];
  }

  private void insert(Index index, SplittableRandom random, long stamp, Series at, int width) {
    long offset = offset(random, width);
    Value value;
    if (at.space() < EntryOrder.VERSIONED) {
      lastPosition = Math.max(stamp, lastPosition + 1); // within a record they ascend
      value =
          new Value(
              lastPosition, 0, random.nextInt(1 << random.nextInt(1, 31)), 0, IndexEntry.DATA);
    } else {
      value =
          switch (random.nextInt(6)) {
            case 0, 1 -> new Value(stamp, 0, 0, 0, IndexEntry.REMOVED);
            case 2 -> new Value(stamp, 0, large(random), large(random), IndexEntry.HOLE);
            case 3 -> {
              int skip = random.nextInt(Integer.MAX_VALUE);
              yield new Value(random.nextLong(stamp + 1), skip, large(random), 3, IndexEntry.DATA);
            }
            default ->
                new Value(random.nextLong(stamp + 1), 0, 4096, large(random), IndexEntry.DATA);
          };
    }
    var step = new Step(stamp, at, offset, value);
    steps.add(step);
    model
        .computeIfAbsent(at, key -> new TreeMap<>())
        .computeIfAbsent(offset, key -> new TreeMap<>())
        .put(stamp, value);
    put(index, step);
  }

  private static long large(SplittableRandom random) {
    return random.nextLong() >>> random.nextInt(1, 64);
  }

  private static void put(Index index, Step step) {
    var at = step.series();
    var value = step.value();
    if (at.space() < EntryOrder.VERSIONED) {
      index.insert(
          at.high(), at.low(), at.space(), step.offset(), value.position(), (int) value.length());
      return;
    }
    switch (value.mark()) {
      case IndexEntry.REMOVED ->
          index.remove(at.high(), at.low(), at.space(), step.offset(), step.stamp());
      default ->
          index.insert(
              at.high(),
              at.low(),
              at.space(),
              step.stamp(),
              new IndexEntry()
                  .set(
                      step.offset(),
                      value.position(),
                      value.skip(),
                      value.length(),
                      value.version(),
                      value.mark()));
    }
  }

  /// Deletes the object of a series: what points below is dead.
  private void delete(SegmentLog log, long stamp, Series at) {
    deaths
        .computeIfAbsent(new StreamId(at.high(), at.low()), key -> new TreeMap<>())
        .put(stamp, log.end());
  }

  private long birth(IndexView view, long high, long low) {
    return birth(new StreamId(high, low), view.limit());
  }

  private long birth(StreamId object, long limit) {
    var moments = deaths.get(object);
    var last = moments == null ? null : moments.lowerEntry(limit);
    return last == null ? 0 : last.getValue();
  }

  private Map<StreamId, Long> births(long limit) {
    var births = new HashMap<StreamId, Long>();
    for (var object : deaths.keySet()) births.put(object, birth(object, limit));
    return births;
  }

  private void hold(Index index, SegmentLog log, SplittableRandom random) {
    if (random.nextBoolean()) log.sync();
    long limit =
        switch (random.nextInt(3)) {
          case 0 -> log.durable();
          case 1 -> log.end();
          // Not from before the index was opened: its runs may know of later deletions.
          default -> Math.max(opened, steps.get(random.nextInt(steps.size())).stamp());
        };
    var view = index.view(limit);
    assertTrue(view.limit() >= limit, "a view shows less than was asked for");
    assertTrue(view.limit() <= Math.max(limit, log.durable()), "it shows what may be lost");
    held.add(new Held(view, view.limit(), births(view.limit())));
  }

  private void release(SplittableRandom random, List<Series> series, int width) throws IOException {
    var first = held.remove();
    try (var view = first.view()) {
      for (int i = 0; i < 5; i++) {
        var at = series.get(random.nextInt(series.size()));
        verifyFloor(view, first.limit(), first.births(), at, offset(random, width));
        verifyScan(view, first.limit(), first.births(), at, offset(random, width));
      }
      if (random.nextInt(10) == 0) verifyAll(view, first.births());
      if (random.nextInt(10) == 0) verifySeek(view, first.births(), series, random, width);
    }
  }

  private void verifyWriter(Index index, SplittableRandom random, List<Series> series, int width)
      throws IOException {
    try (var view = index.view(Long.MAX_VALUE)) {
      var at = series.get(random.nextInt(series.size()));
      verifyFloor(view, Long.MAX_VALUE, births(Long.MAX_VALUE), at, offset(random, width));
    }
  }

  private void verifyFloor(
      IndexView view, long limit, Map<StreamId, Long> births, Series at, long offset)
      throws IOException {
    var found = new IndexEntry();
    long born = births.getOrDefault(new StreamId(at.high(), at.low()), 0L);
    boolean any = view.floor(at.high(), at.low(), at.space(), offset, least(at, born), found);
    var entries = model.getOrDefault(at, new TreeMap<>());
    var expected = entries.floorEntry(offset);
    while (expected != null && live(at, expected.getValue(), limit, born) == null) {
      removalsPassed++;
      expected = entries.lowerEntry(expected.getKey());
    }
    assertEquals(
        expected != null,
        any,
        at
            + " at "
            + offset
            + " below "
            + limit
            + " born "
            + born
            + " moment "
            + view.limit()
            + " model "
            + entries);
    assertEquals(any, found.exists());
    if (expected == null) return;
    assertEquals(expected.getKey(), found.offset);
    assertEquals(live(at, expected.getValue(), limit, born), Value.of(found));
  }

  private static long least(Series at, long born) {
    return at.space() < EntryOrder.VERSIONED ? 0 : born;
  }

  private static @Nullable Value live(
      Series at, NavigableMap<Long, Value> stamps, long limit, long born) {
    var newest = stamps.lowerEntry(limit);
    if (newest == null || newest.getValue().mark() == IndexEntry.REMOVED) return null;
    return newest.getValue().position() < least(at, born) ? null : newest.getValue();
  }

  private void verifyScan(
      IndexView view, long limit, Map<StreamId, Long> births, Series at, long from)
      throws IOException {
    long born = births.getOrDefault(new StreamId(at.high(), at.low()), 0L);
    try (var scan = view.scan(at.high(), at.low(), at.space(), from, least(at, born))) {
      var entries = model.getOrDefault(at, new TreeMap<>()).tailMap(from, true);
      for (var expected : entries.entrySet()) {
        var value = live(at, expected.getValue(), limit, born);
        if (value == null) continue;
        assertTrue(scan.next());
        assertEquals(expected.getKey(), scan.entry().offset);
        assertEquals(value, Value.of(scan.entry()));
      }
      assertFalse(scan.next());
    }
  }

  private void verifyAll(IndexView view, Map<StreamId, Long> births) throws IOException {
    var walk = view.walk();
    for (var at : model.entrySet()) verifyRest(view, walk, births, at.getKey(), 0);
    assertFalse(nextLive(walk, births));
  }

  /// Expects the live entries of a series from an offset on.
  private void verifyRest(
      IndexView view, IndexWalk walk, Map<StreamId, Long> births, Series at, long from)
      throws IOException {
    long born = births.getOrDefault(new StreamId(at.high(), at.low()), 0L);
    var entries = model.getOrDefault(at, new TreeMap<>()).tailMap(from, true);
    for (var expected : entries.entrySet()) {
      var value = live(at, expected.getValue(), view.limit(), born);
      if (value == null) continue;
      assertTrue(nextLive(walk, births));
      assertEquals(at, new Series(walk.high(), walk.low(), walk.space()));
      assertEquals(expected.getKey(), walk.entry().offset);
      assertEquals(value, Value.of(walk.entry()));
    }
  }

  private static boolean nextLive(IndexWalk walk, Map<StreamId, Long> births) throws IOException {
    while (walk.next()) {
      long born = births.getOrDefault(new StreamId(walk.high(), walk.low()), 0L);
      boolean versioned = walk.space() >= EntryOrder.VERSIONED;
      if (!versioned || walk.entry().position >= born) return true;
    }
    return false;
  }

  private void verifySeek(
      IndexView view,
      Map<StreamId, Long> births,
      List<Series> series,
      SplittableRandom random,
      int width)
      throws IOException {
    var at = series.get(random.nextInt(series.size()));
    long from = offset(random, width);
    var walk = view.walk();
    for (int i = random.nextInt(3); i > 0; i--) walk.next();
    var stands = new Series(walk.high(), walk.low(), walk.space());
    if (walk.entry().exists() && stands.compareTo(at) >= 0) return;
    walk.seek(at.high(), at.low(), at.space(), from);
    verifyRest(view, walk, births, at, from);
    for (var after : model.tailMap(at, false).keySet()) verifyRest(view, walk, births, after, 0);
    assertFalse(nextLive(walk, births));
  }
}
