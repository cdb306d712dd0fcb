package stoa.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.base.StreamId;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.Disk;
import stoa.storage.disk.FileDisk;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.segment.Commit;
import stoa.storage.segment.EncodedNumbers;

class ConcurrencyTest {
  private static final StreamId LEFT = StreamId.of("left");
  private static final StreamId RIGHT = StreamId.of("right");
  private static final StreamId HEAD = StreamId.of("head");
  private static final DeviceConfig CONFIG = new DeviceConfig(256 << 10, 0, 16 << 10, 64 << 10);

  @Test
  void readersSeeWholeCommitsWhileTablesAreWrittenAndMergedInMemory() throws Exception {
    run(new MemoryDisk(64 << 20), 40_000);
  }

  @Test
  void readersSeeWholeCommitsWhileTablesAreWrittenAndMergedOnFiles(@TempDir Path directory)
      throws Exception {
    run(new FileDisk(directory), 4_000);
  }

  /// Every commit writes one extent to the left, one to the right, and replaces the head.
  private static void run(Disk disk, int commits) throws Exception {
    try (var device = Device.open(disk, CONFIG);
        var threads = Executors.newFixedThreadPool(4)) {
      var done = new AtomicLong();
      var work = new ArrayList<Callable<Boolean>>();
      work.add(() -> write(device, commits, done));
      work.add(() -> readPairs(device, commits, done));
      work.add(() -> readHead(device, commits, done));
      work.add(() -> scan(device, commits, done));
      for (var result : threads.invokeAll(work)) assertTrue(result.get());
      var stats = device.stats();
      assertTrue(stats.flushes() > 10 && stats.merges() > 0, stats.toString());
      assertTrue(stats.runs() <= 40, stats.toString());
      for (int i = 0; i < commits; i++) assertArrayEquals(data(i), device.read(RIGHT, 3, i));
    }
    try (var device = Device.open(disk, CONFIG)) {
      for (int i = 0; i < commits; i++) assertArrayEquals(data(i), device.read(LEFT, 0, i));
      assertArrayEquals(data(commits - 1), device.read(HEAD, 0, 0));
    }
  }

  private static boolean write(Device device, int commits, AtomicLong done) {
    var commit = new Commit();
    for (int i = 0; i < commits; i++) {
      var data = data(i);
      commit.clear().write(LEFT, 0, i, data, 0, 16).write(HEAD, 0, 0, data, 0, 16);
      device.append(commit.write(RIGHT, 3, i, data, 0, 16));
      if (i % 1000 == 0) device.sync();
      done.set(i + 1);
    }
    return true;
  }

  private static boolean readPairs(Device device, int commits, AtomicLong done) {
    var random = new SplittableRandom(1);
    while (done.get() < commits) {
      long appended = done.get();
      long left = device.floor(LEFT, 0, Long.MAX_VALUE);
      assertTrue(left >= appended - 1);
      if (left < 0) continue;
      assertArrayEquals(data(left), device.read(RIGHT, 3, left));
      assertTrue(device.floor(LEFT, 0, Long.MAX_VALUE) >= left);
      long old = random.nextLong(left + 1);
      assertArrayEquals(data(old), device.read(LEFT, 0, old));
      assertEquals(-1, device.floor(StreamId.of("none" + old), 0, old));
    }
    return true;
  }

  private static boolean readHead(Device device, int commits, AtomicLong done) {
    long before = -1;
    while (done.get() < commits) {
      var data = device.read(HEAD, 0, 0);
      if (data == null) continue;
      long head = EncodedNumbers.getLong(data, 0);
      assertTrue(head >= before, head + " after " + before);
      assertNotNull(device.read(LEFT, 0, head));
      before = head;
    }
    return true;
  }

  private static boolean scan(Device device, int commits, AtomicLong done) {
    while (done.get() < commits) {
      long appended = done.get();
      long from = Math.max(0, appended - 200);
      long[] next = {from};
      device.scan(
          LEFT,
          0,
          from,
          Long.MAX_VALUE,
          (offset, data) -> {
            assertEquals(next[0]++, offset);
            assertArrayEquals(data(offset), data);
            return true;
          });
      assertTrue(next[0] >= appended);
    }
    return true;
  }

  private static byte[] data(long number) {
    var data = new byte[16];
    EncodedNumbers.putLong(data, 0, number);
    EncodedNumbers.putLong(data, 8, ~number);
    return data;
  }
}
