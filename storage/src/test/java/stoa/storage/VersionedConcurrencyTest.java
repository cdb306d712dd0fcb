package stoa.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.Disk;
import stoa.storage.disk.FileDisk;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.object.VersionedObject;
import stoa.storage.segment.EncodedNumbers;

/// Many real threads on one device.
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class VersionedConcurrencyTest {
  private static final int FACTOR = Integer.getInteger("stoa.storage.concurrency", 1);
  private static final int WRITERS = 24;
  private static final int READERS = 8;
  private static final DeviceConfig SMALL = new DeviceConfig(64 << 10, 0, 16 << 10, 64 << 10);

  /// Where each transaction writes its number: over a block's end, apart, and one in another.
  private static final long[] OFFSETS = {0, 4090, 20_000, 20_010, 100_000};

  private static final int LENGTH = 64;

  @Test
  void readersSeeTransactionsWholeOnOneObjectInMemory() throws Exception {
    readersSeeTransactionsWhole(new MemoryDisk(256 << 20), 1, 20 * FACTOR);
  }

  @Test
  void readersSeeTransactionsWholeOnManyObjectsInFiles(@TempDir Path directory) throws Exception {
    readersSeeTransactionsWhole(new FileDisk(directory), 7, 4 * FACTOR);
  }

  /// Each writer writes its versions into every range; versions come in any order. Reordering and
  /// reclaiming go on beside.
  private static void readersSeeTransactionsWhole(Disk disk, int objects, int rounds)
      throws Exception {
    var done = new AtomicBoolean();
    try (var device = Device.open(disk, SMALL);
        var threads = Executors.newFixedThreadPool(WRITERS + READERS + 1)) {
      var writers = new ArrayList<CompletableFuture<Void>>();
      for (int i = 0; i < WRITERS; i++) {
        int writer = i;
        writers.add(
            CompletableFuture.runAsync(() -> writeAll(device, objects, rounds, writer), threads));
      }
      var others = new ArrayList<CompletableFuture<Void>>();
      for (int i = 0; i < READERS; i++) {
        int reader = i;
        others.add(
            CompletableFuture.runAsync(() -> readWhole(device, objects, reader, done), threads));
      }
      others.add(
          CompletableFuture.runAsync(
              () -> {
                while (!done.get()) {
                  device.maintain();
                  Thread.onSpinWait();
                }
              },
              threads));
      try {
        for (var writer : writers) writer.join();
      } finally {
        done.set(true);
      }
      for (var other : others) other.join();
      verify(device, objects, rounds);
    }
    try (var device = Device.open(disk, SMALL)) {
      verify(device, objects, rounds);
      assertTrue(device.scrub().isWell());
    }
  }

  private static void verify(Device device, int objects, int rounds) {
    long highest = (long) rounds * WRITERS;
    for (int id = 0; id < objects; id++) {
      var object = device.object(id);
      assertEquals("1-" + highest, object.versionState().toString());
      for (long offset : OFFSETS) {
        assertArrayEquals(part(highest, offset), object.read(offset, length(offset)));
      }
      assertArrayEquals(pattern(highest, -1), object.attribute("of"));
    }
  }

  private static int length(long offset) {
    return offset == 20_000 ? 10 : LENGTH;
  }

  private static byte[] part(long version, long offset) {
    return Arrays.copyOf(pattern(version, offset), length(offset));
  }

  private static byte[] pattern(long version, long offset) {
    var bytes = new byte[LENGTH];
    for (int i = 0; i < LENGTH; i += 8)
      EncodedNumbers.putLong(bytes, i, version * 1_000_003 + offset);
    return bytes;
  }

  private static void writeAll(Device device, int objects, int rounds, int writer) {
    var random = new SplittableRandom(writer);
    for (int round = 0; round < rounds; round++) {
      long version = 1 + writer + (long) round * WRITERS;
      for (int id = 0; id < objects; id++) {
        var object = device.object(id);
        try (var write = object.begin(version)) {
          CompletableFuture<Void> last = CompletableFuture.completedFuture(null);
          for (long offset : OFFSETS) {
            var data = ByteBuffer.wrap(pattern(version, offset));
            // Of the two that overlap, the one begun last counts.
            if (offset == 20_010) continue;
            if (random.nextBoolean()) write.write(offset, data);
            else last = write.writeAsync(offset, data);
          }
          var _ = write.writeAsync(20_010, ByteBuffer.wrap(pattern(version, 20_010)));
          var _ = write.writeAsync(20_000, ByteBuffer.wrap(pattern(version, 20_000), 0, 10));
          if (random.nextBoolean()) last.join();
          write.attribute("of", pattern(version, -1));
          assertTrue(write.commit());
        }
        if (version % 40 == 0) object.snapshot().release();
      }
    }
  }

  private static void readWhole(Device device, int objects, int reader, AtomicBoolean done) {
    var random = new SplittableRandom(reader);
    var highest = new long[objects];
    while (!done.get()) {
      int id = random.nextInt(objects);
      var object = device.object(id);
      long known = object.versionState().highest();
      // One call sees one moment.
      var bytes = object.read(0, 100_000 + LENGTH);
      long version = EncodedNumbers.getLong(bytes, 0) / 1_000_003;
      if (version == 0) {
        assertEquals(0, known);
        continue;
      }
      assertTrue(version >= known && version >= highest[id], version + " after " + known);
      highest[id] = version;
      for (long offset : OFFSETS) {
        var seen = Arrays.copyOfRange(bytes, (int) offset, (int) offset + length(offset));
        assertArrayEquals(
            part(version, offset), seen, () -> "at " + offset + " of version " + version);
      }
      var versions = new ArrayList<Long>();
      object.history(
          0,
          200_000,
          extent -> {
            if (!versions.contains(extent.version())) versions.add(extent.version());
            return true;
          });
      assertEquals(1, versions.size(), () -> "a mixture of " + versions);
      if (random.nextInt(20) == 0) assertTrue(object.stat().highestVersion() >= version);
    }
  }

  @Test
  void versionsThatTheDeviceGivesAreTheOrderInWhichWritesAreSeen() throws Exception {
    var clock = new AtomicLong();
    int rounds = 60 * FACTOR;
    try (var device = Device.open(new MemoryDisk(64 << 20), SMALL);
        var threads = Executors.newFixedThreadPool(WRITERS + READERS)) {
      var object = device.object(5);
      var work = new ArrayList<Callable<List<Given>>>();
      for (int i = 0; i < WRITERS; i++) {
        int writer = i;
        work.add(() -> writeNext(object, clock, rounds, writer));
      }
      var written = new AtomicBoolean();
      var readers = new ArrayList<CompletableFuture<Void>>();
      for (int i = 0; i < READERS; i++) {
        readers.add(CompletableFuture.runAsync(() -> readNext(object, written), threads));
      }
      var given = new ArrayList<Given>();
      try {
        for (var result : threads.invokeAll(work)) given.addAll(result.get());
      } finally {
        written.set(true);
      }
      for (var reader : readers) reader.join();
      given.sort((a, b) -> Long.compare(a.version, b.version));
      long latestBegin = 0;
      for (int i = 0; i < given.size(); i++) {
        assertEquals(i + 1, given.get(i).version);
        // A put that ended before another began has the lower version.
        latestBegin = Math.max(latestBegin, given.get(i).begin);
        assertTrue(given.get(i).end > latestBegin);
      }
      assertEquals("1-" + given.size(), object.versionState().toString());
      var last = given.getLast();
      assertEquals(last.value, EncodedNumbers.getLong(object.read(0, 8), 0));
    }
  }

  /// A write, and when it was made.
  private record Given(long version, long value, long begin, long end) {}

  private static List<Given> writeNext(
      VersionedObject object, AtomicLong clock, int rounds, int writer) {
    var given = new ArrayList<Given>();
    for (int i = 0; i < rounds; i++) {
      long value = 1 + writer * 1_000_000L + i;
      var data = new byte[8];
      EncodedNumbers.putLong(data, 0, value);
      long begin = clock.incrementAndGet();
      long version;
      if (i % 3 == 0) {
        try (var write = object.begin()) {
          write.write(0, ByteBuffer.wrap(data));
          assertTrue(write.commit());
          version = write.version();
        }
      } else if (i % 3 == 1) {
        version = object.writeAsync(0, ByteBuffer.wrap(data)).join();
      } else {
        version = object.write(0, ByteBuffer.wrap(data));
      }
      given.add(new Given(version, value, begin, clock.incrementAndGet()));
      // Everybody sees it, or what a higher version put in its place.
      long seen = object.history().getFirst().version();
      assertTrue(seen >= version, () -> seen + " is seen after " + version);
    }
    return given;
  }

  private static void readNext(VersionedObject object, AtomicBoolean done) {
    long before = 0;
    while (!done.get()) {
      var history = object.history();
      if (history.isEmpty()) continue;
      long version = history.getFirst().version();
      assertTrue(version >= before, "the version went back from " + before + " to " + version);
      before = version;
      assertTrue(object.versionState().contains(version));
    }
  }
}
