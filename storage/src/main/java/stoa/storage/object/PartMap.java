package stoa.storage.object;

import java.util.TreeMap;
import stoa.storage.index.IndexEntry;

/// The writes of a transaction, laid over one another in the order of its calls. One owner uses it.
final class PartMap {
  private static final long HOLE = -1;

  private final TreeMap<Long, Part> parts = new TreeMap<>();

  private record Part(long end, long position, int skip) {
    Part from(long offset, long newOffset) {
      return new Part(end, position, position == HOLE ? 0 : skip + (int) (newOffset - offset));
    }

    Part until(long newEnd) {
      return new Part(newEnd, position, skip);
    }
  }

  /// Covers some offsets with the item at a log position.
  void cover(long offset, long length, long position) {
    if (length == 0) return; // a truncation at the greatest offset
    long end = offset + length;
    var before = parts.lowerEntry(offset);
    if (before != null && before.getValue().end > offset) {
      var part = before.getValue();
      parts.put(before.getKey(), part.until(offset));
      if (part.end > end) parts.put(end, part.from(before.getKey(), end));
    }
    var inside = parts.subMap(offset, true, end, false);
    if (!inside.isEmpty()) {
      var last = inside.lastEntry();
      var rest = last.getValue().end > end ? last.getValue().from(last.getKey(), end) : null;
      inside.clear();
      if (rest != null) parts.put(end, rest);
    }
    parts.put(offset, new Part(end, position, 0));
  }

  /// Covers all from an offset on with a hole.
  void truncate(long size) {
    cover(size, Long.MAX_VALUE - size, HOLE);
  }

  /// Adds the pieces, in ascending order, to a list.
  void addTo(Pieces pieces, long version) {
    var piece = new IndexEntry();
    parts.forEach((offset, part) -> {
      int mark = part.position == HOLE ? IndexEntry.HOLE : IndexEntry.DATA;
      pieces.add(piece.set(offset, part.position, part.skip, part.end - offset, version, mark));
    });
  }
}
