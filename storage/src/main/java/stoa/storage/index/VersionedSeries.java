package stoa.storage.index;

import java.io.IOException;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/// The entries of one object and versioned space in a table.
final class VersionedSeries extends Series {
  /*
   * A skip list by offset, then by stamp: it keeps all entries of an offset, since a reader may
   * need an older one. Entries of one record at one offset have one stamp; the last one replaces
   * the others, which are invisible to readers.
   */
  /// The approximate heap of a series before its first entry.
  static final int SERIES_BYTES = 160;

  private static final int CELL_BYTES = 96;

  private final ConcurrentSkipListMap<Cell, Cell> cells = new ConcurrentSkipListMap<>();

  VersionedSeries(long high, long low, int space) {
    super(high, low, space);
  }

  /// Adds an entry and returns by how many bytes the used heap grew.
  int add(long offset, long stamp, long position, int skip, long length, long version, int mark) {
    var cell = new Cell(offset, stamp, position, skip, length, version, mark);
    return cells.put(cell, cell) == null ? CELL_BYTES : 0;
  }

  @Override
  void floor(long offset, long limit, IndexEntry found) {
    var cell = visible(offset, limit);
    if (cell != null && cell.offset > found.offset) cell.copyTo(found);
  }

  /// Returns the newest visible entry at the greatest offset up to `offset`.
  private @Nullable Cell visible(long offset, long limit) {
    var entry = cells.floorEntry(Cell.key(offset, limit - 1));
    while (entry != null && entry.getKey().stamp >= limit) {
      entry = cells.floorEntry(Cell.key(entry.getKey().offset, limit - 1));
    }
    return entry == null ? null : entry.getValue();
  }

  @Override
  boolean ceiling(long offset, long limit, IndexEntry found) {
    var first = cells.ceilingKey(Cell.key(offset, 0));
    while (first != null && first.stamp >= limit) {
      first = cells.higherKey(Cell.key(first.offset, Long.MAX_VALUE));
    }
    if (first == null) return false;
    var newest = visible(first.offset, limit);
    if (newest == null) throw new IllegalStateException("broken invariant: an entry is gone");
    newest.copyTo(found);
    return true;
  }

  @Override
  void writeTo(Pruner pruner) throws IOException {
    Cell before = null;
    for (var cell : cells.values()) {
      if (before != null && before.offset != cell.offset) write(before, pruner);
      before = cell;
    }
    if (before != null) write(before, pruner);
  }

  private void write(Cell cell, Pruner pruner) throws IOException {
    pruner.add(
        high(),
        low(),
        space(),
        cell.offset,
        cell.position,
        cell.skip,
        cell.length,
        cell.version,
        cell.mark);
  }

  /// An entry and its stamp. Key and value of the list, to save an object.
  private record Cell(
      long offset, long stamp, long position, int skip, long length, long version, int mark)
      implements Comparable<Cell> {
    static Cell key(long offset, long stamp) {
      return new Cell(offset, stamp, 0, 0, 0, 0, 0);
    }

    void copyTo(IndexEntry entry) {
      entry.set(offset, position, skip, length, version, mark);
    }

    @Override
    public int compareTo(Cell other) {
      int byOffset = Long.compare(offset, other.offset);
      return byOffset != 0 ? byOffset : Long.compare(stamp, other.stamp);
    }
  }
}
