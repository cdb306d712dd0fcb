package stoa.storage.index;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.FileDisk;
import stoa.storage.segment.EntryOrder;
import stoa.storage.segment.SegmentLog;

/// The index of the device.
final class StoaEngine implements IndexEngine {
  private final ExecutorService threads =
      Executors.newFixedThreadPool(
          2,
          task -> {
            var thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
          });
  private final SegmentLog log;
  private final Index index;
  private long stamp = 1;

  StoaEngine(Path directory, int tableBytes, int cacheBytes) throws IOException {
    var disk = new FileDisk(directory);
    var config =
        DeviceConfig.standard().withMemtableBytesMax(tableBytes).withCacheBytesMax(cacheBytes);
    log = SegmentLog.open(disk, config, disk.list());
    index = Index.open(disk, config, log, threads, Births.NONE, disk.list());
  }

  @Override
  public void put(long high, long low, int space, IndexEntry e) {
    if (space < EntryOrder.VERSIONED) {
      index.insert(high, low, space, e.offset, e.position, (int) e.length);
      stamp = e.position;
    } else {
      index.insert(high, low, space, stamp, e);
    }
  }

  @Override
  public void remove(long high, long low, int space, long offset) {
    index.remove(high, low, space, offset, stamp);
  }

  @Override
  public void show() {
    if (index.publish(++stamp)) index.flushSoon();
    index.awaitRoom();
  }

  @Override
  public boolean floor(long high, long low, int space, long offset, IndexEntry found)
      throws IOException {
    if (space < EntryOrder.VERSIONED) {
      found.clear();
      index.floor(high, low, space, offset, found);
      return found.exists();
    }
    try (var view = index.view(Long.MAX_VALUE)) {
      return view.floor(high, low, space, offset, found);
    }
  }

  @Override
  public void scan(long high, long low, int space, long from, Visitor visitor) throws IOException {
    try (var view = index.view(Long.MAX_VALUE);
        var scan = view.scan(high, low, space, from)) {
      while (scan.next() && visitor.visit(scan.entry())) {}
    }
  }

  @Override
  public void settle() {
    threads.close();
  }

  @Override
  public long onDisk(long entries) {
    return index.runEntries();
  }

  @Override
  public void close() {
    threads.shutdown();
    index.close();
    log.close();
  }
}
