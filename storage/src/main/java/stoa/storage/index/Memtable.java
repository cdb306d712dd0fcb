package stoa.storage.index;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import stoa.storage.segment.EntryOrder;

/// The index entries of a range of the log, in the heap.
///
/// One thread at a time inserts; any number of threads look up beside it without locks.
final class Memtable {
  /*
   * A hash table of series, one per object and space. A reader brings a limit, a log position, and
   * sees the newest entries with a stamp below it: so all entries of a record appear to it at once.
   *
   * field          written by the one writer      read by others
   * table          release, after it is filled    acquire
   * table[i]       release, once                  acquire
   */
  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Series[].class);

  private final long from;
  private volatile Series[] table;
  private int seriesCount;
  private long bytes;
  // Saves lookups for writes to one object in a row.
  private @Nullable RecordSeries latest;

  /// Creates an empty table.
  ///
  /// @param from the log position at which its range begins
  /// @param seriesExpected the expected number of series
  Memtable(long from, int seriesExpected) {
    this.from = from;
    this.table = new Series[Integer.highestOneBit(Math.max(32, seriesExpected)) * 2];
    this.bytes = 4L * table.length;
  }

  /// Returns the log position at which its range begins.
  long from() {
    return from;
  }

  /// Returns about the heap that it uses.
  long bytes() {
    return bytes;
  }

  int seriesCount() {
    return seriesCount;
  }

  /// Adds an entry of a record space; its stamp is its position.
  void insert(long high, long low, int space, long offset, long position, int length) {
    var series = latest;
    if (series == null || !series.is(high, low, space)) {
      series = (RecordSeries) findOrAdd(high, low, space);
      latest = series;
    }
    bytes += series.add(offset, position, length);
  }

  /// Adds an entry of a versioned space.
  void insert(
      long high,
      long low,
      int space,
      long offset,
      long stamp,
      long position,
      int skip,
      long length,
      long version,
      int mark) {
    var series = (VersionedSeries) findOrAdd(high, low, space);
    bytes += series.add(offset, stamp, position, skip, length, version, mark);
  }

  @Nullable Series find(long high, long low, int space) {
    var t = table;
    int mask = t.length - 1;
    for (int i = (int) hash(high, low, space) & mask; ; i = (i + 1) & mask) {
      var series = (Series) SLOT.getAcquire(t, i);
      if (series == null) return null;
      if (series.is(high, low, space)) return series;
    }
  }

  private Series findOrAdd(long high, long low, int space) {
    var found = find(high, low, space);
    if (found != null) return found;
    if (seriesCount * 2 >= table.length) grow();
    boolean versioned = space >= EntryOrder.VERSIONED;
    var series =
        versioned ? new VersionedSeries(high, low, space) : new RecordSeries(high, low, space);
    place(table, series);
    seriesCount++;
    bytes += versioned ? VersionedSeries.SERIES_BYTES : RecordSeries.SERIES_BYTES;
    return series;
  }

  private void grow() {
    var larger = new Series[2 * table.length];
    for (var series : table) {
      if (series != null) place(larger, series);
    }
    bytes += 4L * (larger.length - table.length);
    table = larger;
  }

  private static void place(Series[] table, Series series) {
    int mask = table.length - 1;
    int i = (int) hash(series.high(), series.low(), series.space()) & mask;
    while (table[i] != null) i = (i + 1) & mask;
    SLOT.setRelease(table, i, series);
  }

  static long hash(long high, long low, int space) {
    long h = (high ^ (low + space) * 0x9e3779b97f4a7c15L) * 0xbf58476d1ce4e5b9L;
    return h ^ (h >>> 32);
  }

  /// Returns all series in ascending order, except those that are added during the call.
  Series[] sorted() {
    // Sorts numbers, not references: the upper bits of the object, and in the lower bits the index.
    var t = table;
    var all = new Series[t.length];
    int n = 0;
    for (int i = 0; i < t.length; i++) {
      var series = (Series) SLOT.getAcquire(t, i);
      if (series != null) all[n++] = series;
    }
    var keys = new long[n];
    int indexBits = Integer.SIZE - Integer.numberOfLeadingZeros(n);
    long indexMask = (1L << indexBits) - 1;
    for (int i = 0; i < n; i++) keys[i] = ((all[i].high() ^ Long.MIN_VALUE) & ~indexMask) | i;
    Arrays.sort(keys);
    var sorted = new Series[n];
    for (int i = 0; i < n; i++) sorted[i] = all[(int) (keys[i] & indexMask)];
    for (int start = 0; start < n; ) {
      int end = start + 1;
      while (end < n && (keys[end] & ~indexMask) == (keys[start] & ~indexMask)) end++;
      if (end - start > 1) Arrays.sort(sorted, start, end, Series::compare);
      start = end;
    }
    return sorted;
  }
}
