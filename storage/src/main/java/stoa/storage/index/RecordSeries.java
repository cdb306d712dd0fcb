package stoa.storage.index;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/// The entries of one object and record space in a table. The stamp of an entry is its position.
/// One thread at a time writes; any thread reads.
final class RecordSeries extends Series {
  /*
   * The entries that came in ascending order of offset, which is nearly all of them, are cells of
   * three longs in an array: offset, position, length. An entry that came late goes to `strays`, a
   * sorted map made when it is first needed. Positions ascend with time, so they ascend along the
   * cells. Entries at one offset are all kept, oldest first.
   *
   * field          written by the one writer      read by others
   * cells          plain, before count            plain, after count
   * count          release, after the cell        acquire
   * strays         volatile                       volatile
   */
  /// The approximate heap of a series with room for one entry.
  static final int SERIES_BYTES = 96;

  private static final int CELL_BYTES = 24;
  private static final int STRAY_BYTES = 120;
  private static final int CELL = 3;
  private static final VarHandle COUNT;

  static {
    try {
      COUNT = MethodHandles.lookup().findVarHandle(RecordSeries.class, "count", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private long[] cells = new long[CELL];
  private int count;
  private volatile @Nullable ConcurrentSkipListMap<Key, Integer> strays;

  RecordSeries(long high, long low, int space) {
    super(high, low, space);
  }

  /// Adds an entry and returns by how many bytes the used heap grew.
  int add(long offset, long position, int length) {
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

  @Override
  void floor(long offset, long limit, IndexEntry found) {
    boolean any = false;
    int n = (int) COUNT.getAcquire(this);
    var c = cells;
    int i = visibleCount(c, n, limit);
    i = firstAbove(c, i, offset) - 1;
    if (i >= 0 && c[i * CELL] > found.offset) {
      found.set(c[i * CELL], c[i * CELL + 1], c[i * CELL + 2]);
      any = true;
    }
    var map = strays;
    if (map == null) return;
    var stray = map.floorEntry(new Key(offset, limit - 1));
    while (stray != null && stray.getKey().position >= limit) {
      stray = map.lowerEntry(stray.getKey());
    }
    if (stray == null) return;
    var key = stray.getKey();
    boolean newer = any && key.offset == found.offset && key.position > found.position;
    if (key.offset > found.offset || newer) found.set(key.offset, key.position, stray.getValue());
  }

  @Override
  boolean ceiling(long offset, long limit, IndexEntry found) {
    long least = Long.MAX_VALUE;
    boolean any = false;
    int n = (int) COUNT.getAcquire(this);
    var c = cells;
    n = visibleCount(c, n, limit);
    int i = offset == 0 ? 0 : firstAbove(c, n, offset - 1);
    if (i < n) {
      least = c[i * CELL];
      any = true;
    }
    var map = strays;
    if (map != null) {
      for (var key : map.tailMap(new Key(offset, 0)).keySet()) {
        if (key.position >= limit) continue;
        least = any ? Math.min(least, key.offset) : key.offset;
        any = true;
        break;
      }
    }
    if (!any) return false;
    found.clear();
    floor(least, limit, found);
    return true;
  }

  @Override
  void writeTo(Pruner pruner) throws IOException {
    if (strays == null) {
      for (int i = 0; i < count; i++) {
        int at = i * CELL;
        if (i + 1 < count && cells[at + CELL] == cells[at]) continue;
        write(cells[at], cells[at + 1], cells[at + 2], pruner);
      }
      return;
    }
    var found = new IndexEntry();
    long next = 0;
    while (next >= 0 && ceiling(next, Long.MAX_VALUE, found)) {
      write(found.offset, found.position, found.length, pruner);
      next = found.offset + 1;
    }
  }

  private void write(long offset, long position, long length, Pruner pruner) throws IOException {
    pruner.add(high(), low(), space(), offset, position, 0, length, 0, IndexEntry.DATA);
  }

  /// Returns the number of cells below a log position.
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

  /// Returns the index of the first cell with a greater offset.
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

  /// The order of strays: by offset, then by age.
  private record Key(long offset, long position) implements Comparable<Key> {
    @Override
    public int compareTo(Key other) {
      int byOffset = Long.compare(offset, other.offset);
      return byOffset != 0 ? byOffset : Long.compare(position, other.position);
    }
  }
}
