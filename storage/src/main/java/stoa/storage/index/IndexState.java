package stoa.storage.index;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;

/// The parts of the index at one moment: tables in the heap and runs on the disk, newest first.
///
/// Immutable except for the count of its readers. Readers may read tables at any time; runs only
/// between [#acquire] and [#release].
final class IndexState {
  private final Memtable active;
  private final Memtable[] frozen;
  private final Run[] runs;
  private final long moment;
  // The index itself is one.
  private final AtomicInteger users = new AtomicInteger(1);

  IndexState(Memtable active, Memtable[] frozen, Run[] runs) {
    this.active = active;
    this.frozen = frozen;
    this.runs = runs;
    long latest = 0;
    for (var run : runs) {
      run.use();
      latest = Math.max(latest, run.moment());
    }
    this.moment = latest;
  }

  /// Returns the table that takes new entries.
  Memtable active() {
    return active;
  }

  /// Returns full tables that are not yet on the disk.
  Memtable[] frozen() {
    return frozen;
  }

  Run[] runs() {
    return runs;
  }

  /// Returns the first visible moment. It is durable.
  long moment() {
    return moment;
  }

  /// Puts the newest entry with a stamp below `limit` at the greatest offset up to `offset` into
  /// `found`, which is empty. The entry may be a removed one.
  void floor(
      BlockCache cache, long limit, long high, long low, int space, long offset, IndexEntry found)
      throws IOException {
    floorInTables(limit, high, low, space, offset, found);
    if (found.offset != offset) floorInRuns(cache, high, low, space, offset, found);
  }

  /// Looks like [#floor] in the tables alone.
  void floorInTables(long limit, long high, long low, int space, long offset, IndexEntry found) {
    floor(active, limit, high, low, space, offset, found);
    for (var table : frozen) {
      if (found.offset == offset) return;
      floor(table, limit, high, low, space, offset, found);
    }
  }

  private static void floor(
      Memtable table, long limit, long high, long low, int space, long offset, IndexEntry found) {
    var series = table.find(high, low, space);
    if (series != null) series.floor(offset, limit, found);
  }

  /// Continues with the runs when [#floorInTables] has not found `offset` itself.
  void floorInRuns(BlockCache cache, long high, long low, int space, long offset, IndexEntry found)
      throws IOException {
    for (var run : runs) {
      run.floor(cache, high, low, space, offset, found);
      if (found.offset == offset) return;
    }
  }

  /// Keeps the runs' files in place. Returns false when another state has replaced this one and the
  /// files may be gone.
  boolean acquire() {
    while (true) {
      int n = users.get();
      if (n == 0) return false;
      if (users.compareAndSet(n, n + 1)) return true;
    }
  }

  void release() {
    if (users.decrementAndGet() > 0) return;
    for (var run : runs) run.release();
  }
}
