package stoa.storage.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import stoa.base.StreamId;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.segment.Commit;
import stoa.storage.segment.SegmentLog;

/// Tokens move about: each record removes some and puts them elsewhere, so at each moment there are
/// equally many.
class IndexViewConcurrencyTest {
  private static final int TOKENS = 60;
  private static final int PLACES = 4000;
  private static final int RECORDS = 40_000;
  private static final int SPACE = 200;

  @Test
  void readersSeeEachRecordWholeWhileTablesAndRunsChange() throws Exception {
    var disk = new MemoryDisk(256 << 20);
    var config = new DeviceConfig(1 << 20, 0, 32 << 10, 64 << 10);
    var log = SegmentLog.open(disk, config, disk.list());
    var done = new AtomicBoolean();
    var reads = new AtomicLong();
    try (var background = Executors.newFixedThreadPool(2);
        var readers = Executors.newFixedThreadPool(3)) {
      var index = Index.open(disk, config, log, background, Births.NONE, disk.list());
      log.recover(0, item -> {});
      var places = start(index, log);
      List<Future<Void>> results = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        boolean durable = i == 0;
        Callable<Void> reader =
            () -> {
              while (!done.get()) {
                read(index, durable ? log.durable() : Long.MAX_VALUE - 1);
                reads.incrementAndGet();
              }
              return null;
            };
        results.add(readers.submit(reader));
      }
      try {
        move(index, log, places);
      } finally {
        done.set(true);
      }
      for (var result : results) finish(result);
      assertTrue(index.merges() > 10 && reads.get() > 50, index.merges() + ", " + reads);
      index.close();
      log.close();
    }
  }

  private static void finish(Future<Void> result) throws InterruptedException {
    try {
      result.get();
    } catch (ExecutionException e) {
      throw new AssertionError(e.getCause());
    }
  }

  private static long[] start(Index index, SegmentLog log) {
    var places = new long[TOKENS];
    long stamp = append(log);
    for (int i = 0; i < TOKENS; i++) {
      places[i] = i;
      index.insert(
          0, object(i), SPACE, stamp, new IndexEntry().set(i, stamp, 0, 1, 1, IndexEntry.DATA));
    }
    index.publish(log.end());
    log.sync();
    return places;
  }

  private static long append(SegmentLog log) {
    return log.append(new Commit().write(new StreamId(9, 9), 0, 0, new byte[1], 0, 1));
  }

  private static long object(long place) {
    return place % 3;
  }

  private static void move(Index index, SegmentLog log, long[] places) {
    var random = new SplittableRandom(1);
    for (int i = 0; i < RECORDS; i++) {
      index.awaitRoom();
      long stamp = append(log);
      for (int j = random.nextInt(1, 6); j > 0; j--) {
        int token = random.nextInt(TOKENS);
        long to = (long) random.nextInt(PLACES) * TOKENS + token;
        index.remove(0, object(places[token]), SPACE, places[token], stamp);
        index.insert(
            0, object(to), SPACE, stamp, new IndexEntry().set(to, stamp, 0, 1, 1, IndexEntry.DATA));
        places[token] = to;
      }
      if (index.publish(log.end())) index.flushSoon();
      if (i % 16 == 0) log.sync();
    }
  }

  private static void read(Index index, long limit) throws IOException {
    try (var view = index.view(limit)) {
      int[] walked = {0};
      view.walk((high, low, space, entry) -> ++walked[0] > 0);
      assertEquals(TOKENS, walked[0], "walked at " + view.limit());
      int scanned = 0;
      for (int object = 0; object < 3; object++) {
        long last = -1;
        try (var scan = view.scan(0, object, SPACE, 0)) {
          for (; scan.next(); scanned++) last = scan.entry().offset;
        }
        var found = new IndexEntry();
        view.floor(0, object, SPACE, Long.MAX_VALUE, found);
        assertEquals(last, found.offset);
      }
      assertEquals(TOKENS, scanned, "scanned at " + view.limit());
    }
  }
}
