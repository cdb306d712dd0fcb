package stoa.storage;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/// The index entries of a range of the log, in the heap.
///
/// One thread at a time inserts; any number look up beside it without locks.
final class Memtable {
  /*
   * A hash table of series, one per object and space. The entries of a series that came in ascending
   * order of offset, which is nearly all of them, are cells of three longs in an array: offset,
   * position, length. An entry that came late goes to `strays`, a sorted map made when it is first
   * needed. Positions ascend with time, so they ascend along the cells.
   *
   * Entries at one offset are all kept, oldest first. A reader brings `visible`, a log position, and
   * sees the newest entry below it: so all extents of a commit appear to it at once.
   *
   * field          written by the one writer      read by others
   * table          release, after it is filled    acquire
   * table[i]       release, once                  acquire
   * cells          plain, before count            plain, after count
   * count          release, after the cell        acquire
   * strays         volatile                       volatile
   */
  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Series[].class);
  private static final int SERIES_BYTES = 96;
  private static final int CELL_BYTES = 24;
  private static final int STRAY_BYTES = 120;
  private static final int CELL = 3;

  private final long from;
  private volatile Series[] table;
  private int seriesCount;
  private long entryCount;
  private long bytes;
  private @Nullable Series latest; // saves the lookup when one object is written in a row

  /// An empty table.
  ///
  /// @param from the log position at which its range begins
  /// @param seriesExpected how many series it may come to have
  Memtable(long from, int seriesExpected) {
    this.from = from;
    this.table = new Series[Integer.highestOneBit(Math.max(32, seriesExpected)) * 2];
    this.bytes = 4L * table.length;
  }

  /// The log position at which its range begins.
  long from() {
    return from;
  }

  /// The heap it takes, about.
  long bytes() {
    return bytes;
  }

  int seriesCount() {
    return seriesCount;
  }

  long entryCount() {
    return entryCount;
  }

  void insert(long high, long low, int space, long offset, long position, int length) {
    var series = latest;
    if (series == null || !series.is(high, low, space)) {
      series = findOrAdd(high, low, space);
      latest = series;
    }
    bytes += series.add(offset, position, length);
    entryCount++;
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
    var series = new Series(high, low, space);
    place(table, series);
    seriesCount++;
    bytes += SERIES_BYTES;
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
    int i = (int) hash(series.high, series.low, series.space) & mask;
    while (table[i] != null) i = (i + 1) & mask;
    SLOT.setRelease(table, i, series);
  }

  static long hash(long high, long low, int space) {
    long h = (high ^ (low + space) * 0x9e3779b97f4a7c15L) * 0xbf58476d1ce4e5b9L;
    return h ^ (h >>> 32);
  }

  /// All series in ascending order. Called once nothing is inserted any more.
  Series[] sorted() {
    // Sorts numbers, not references: the upper bits of the object, and in the lower bits the index.
    var all = new Series[seriesCount];
    var keys = new long[seriesCount];
    int indexBits = Integer.SIZE - Integer.numberOfLeadingZeros(seriesCount);
    long indexMask = (1L << indexBits) - 1;
    int n = 0;
    for (var series : table) {
      if (series == null) continue;
      keys[n] = ((series.high ^ Long.MIN_VALUE) & ~indexMask) | n;
      all[n++] = series;
    }
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

  /// The entries of one object and space.
  static final class Series {
    private static final VarHandle COUNT;

    static {
      try {
        COUNT = MethodHandles.lookup().findVarHandle(Series.class, "count", int.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    private final long high;
    private final long low;
    private final int space;
    private long[] cells = new long[CELL];
    private int count;
    private volatile @Nullable ConcurrentSkipListMap<Key, Integer> strays;

    Series(long high, long low, int space) {
      this.high = high;
      this.low = low;
      this.space = space;
    }

    long high() {
      return high;
    }

    long low() {
      return low;
    }

    int space() {
      return space;
    }

    boolean is(long otherHigh, long otherLow, int otherSpace) {
      return low == otherLow && high == otherHigh && space == otherSpace;
    }

    private static int compare(Series a, Series b) {
      return EntryOrder.compare(a.high, a.low, a.space, b.high, b.low, b.space);
    }

    /// Adds an entry and answers by how many bytes the heap in use grew.
    private int add(long offset, long position, int length) {
      int n = count;
      var c = cells;
      if (n > 0 && offset < c[(n - 1) * CELL]) return addStray(offset, position, length);
      int grown = 0;
      if (n * CELL == c.length) {
        c = Arrays.copyOf(c, 2 * c.length);
        grown = n * CELL_BYTES;
        cells = c;
      }
      c[n * CELL] = offset;
      c[n * CELL + 1] = position;
      c[n * CELL + 2] = length;
      COUNT.setRelease(this, n + 1);
      return grown;
    }

    private int addStray(long offset, long position, int length) {
      var map = strays;
      if (map == null) map = new ConcurrentSkipListMap<>();
      map.put(new Key(offset, position), length);
      strays = map;
      return STRAY_BYTES;
    }

    /// Puts the newest visible entry at the greatest offset from `least` to `offset` into `found`,
    /// unless `found` has a greater offset. Answers whether it did.
    boolean floor(long offset, long visible, Entry found) {
      boolean any = false;
      int n = (int) COUNT.getAcquire(this);
      var c = cells;
      int i = visibleCount(c, n, visible);
      i = firstAbove(c, i, offset) - 1;
      if (i >= 0 && c[i * CELL] > found.offset) {
        found.set(c[i * CELL], c[i * CELL + 1], (int) c[i * CELL + 2]);
        any = true;
      }
      var map = strays;
      if (map == null) return any;
      var stray = map.floorEntry(new Key(offset, visible - 1));
      while (stray != null && stray.getKey().position >= visible) {
        stray = map.lowerEntry(stray.getKey());
      }
      if (stray == null) return any;
      var key = stray.getKey();
      boolean newer = any && key.offset == found.offset && key.position > found.position;
      if (key.offset > found.offset || newer) {
        found.set(key.offset, key.position, stray.getValue());
        any = true;
      }
      return any;
    }

    /// Puts the newest visible entry at the least offset from `offset` on into `found`. Answers
    /// whether there is one.
    boolean ceiling(long offset, long visible, Entry found) {
      long least = Long.MAX_VALUE;
      boolean any = false;
      int n = (int) COUNT.getAcquire(this);
      var c = cells;
      n = visibleCount(c, n, visible);
      int i = offset == 0 ? 0 : firstAbove(c, n, offset - 1);
      if (i < n) {
        least = c[i * CELL];
        any = true;
      }
      var map = strays;
      if (map != null) {
        for (var key : map.tailMap(new Key(offset, 0)).keySet()) {
          if (key.position >= visible) continue;
          least = any ? Math.min(least, key.offset) : key.offset;
          any = true;
          break;
        }
      }
      if (!any) return false;
      found.set(-1, -1, 0);
      return floor(least, visible, found);
    }

    /// Writes the newest entry of each offset, in order. Called once nothing is inserted any more.
    void writeTo(RunWriter writer) throws IOException {
      if (strays == null) {
        for (int i = 0; i < count; i++) {
          int at = i * CELL;
          if (i + 1 < count && cells[at + CELL] == cells[at]) continue;
          writer.add(high, low, space, cells[at], cells[at + 1], (int) cells[at + 2]);
        }
        return;
      }
      var found = new Entry();
      long next = 0;
      while (next >= 0 && ceiling(next, Long.MAX_VALUE, found)) {
        writer.add(high, low, space, found.offset, found.position, found.length);
        next = found.offset + 1;
      }
    }

    /// The number of cells below a log position.
    private static int visibleCount(long[] cells, int count, long visible) {
      if (count == 0 || cells[(count - 1) * CELL + 1] < visible) return count;
      int low = 0;
      int high = count - 1;
      while (low < high) {
        int middle = (low + high) >>> 1;
        if (cells[middle * CELL + 1] < visible) low = middle + 1;
        else high = middle;
      }
      return low;
    }

    /// The index of the first cell with a greater offset.
    private static int firstAbove(long[] cells, int count, long offset) {
      if (count == 0 || cells[(count - 1) * CELL] <= offset) return count;
      int low = 0;
      int high = count - 1;
      while (low < high) {
        int middle = (low + high) >>> 1;
        if (cells[middle * CELL] <= offset) low = middle + 1;
        else high = middle;
      }
      return low;
    }
  }

  /// The order of strays: by offset, then by age.
  private record Key(long offset, long position) implements Comparable<Key> {
    @Override
    public int compareTo(Key other) {
      int byOffset = Long.compare(offset, other.offset);
      return byOffset != 0 ? byOffset : Long.compare(position, other.position);
    }
  }
}
