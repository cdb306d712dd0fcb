package stoa.storage.object;

import java.io.IOException;
import stoa.base.StreamId;
import stoa.storage.index.Index;
import stoa.storage.index.IndexEntry;
import stoa.storage.index.IndexView;
import stoa.storage.index.Spaces;

/// Changes one map of extents or attributes in the index by the Thomas write rule: where several
/// versions overlap, the highest stays (VOSD paper, sections II-C and III). The order of changes
/// makes no difference, and repeating one changes nothing. One owner uses it.
final class MapWriter {
  private static final int BATCH = 4096;

  private final Index index;
  private final IndexView view;
  private final StreamId map;
  private final long birth;
  private final long stamp;
  private final Tie tie;
  private final Hidden hidden;
  private final IndexEntry part = new IndexEntry();
  private final IndexEntry found = new IndexEntry();
  private final Pieces others = new Pieces();

  /// Which of two entries of one version stays: they have the same content, but one may be at
  /// another place.
  enum Tie {
    FIRST,
    LAST
  }

  /// Receives the parts that a higher version hides, whether the hidden one came first or late.
  @FunctionalInterface
  interface Hidden {
    /// Receives a part of an entry, between two offsets.
    ///
    /// @param by the version that hides it
    void hidden(IndexEntry entry, long from, long end, long by) throws IOException;
  }

  /// Creates a writer of the map with an id.
  ///
  /// @param birth the writer skips entries with a position below
  /// @param stamp the log position of the record of the changes
  MapWriter(
      Index index, IndexView view, StreamId map, long birth, long stamp, Tie tie, Hidden hidden) {
    this.index = index;
    this.view = view;
    this.map = map;
    this.birth = birth;
    this.stamp = stamp;
    this.tie = tie;
    this.hidden = hidden;
  }

  /// Covers the offsets of `piece` with it; the map is empty there.
  void append(IndexEntry piece) {
    put(Spaces.BYTES, piece);
  }

  /// Covers the offsets of `piece` with it, where there is no higher version.
  void cover(IndexEntry piece) throws IOException {
    if (piece.length == 0) return;
    long from = piece.offset;
    long end = piece.end();
    long start = from; // of the remaining part
    long cursor = from;
    do {
      others.clear();
      cursor = ObjectLookup.overlapping(view, map, Spaces.BYTES, birth, cursor, end, BATCH, others);
      for (int i = 0; i < others.count(); i++) {
        others.get(i, found);
        long a = Math.max(found.offset, from);
        long b = Math.min(found.end(), end);
        if (stays(found, piece)) {
          if (a > start) put(Spaces.BYTES, part.set(piece).clip(start, a));
          start = b;
          if (found.version > piece.version) hidden.hidden(piece, a, b, found.version);
          continue;
        }
        if (found.version < piece.version) hidden.hidden(found, a, b, piece.version);
        if (found.offset < from) put(Spaces.BYTES, part.set(found).clip(found.offset, from));
        else remove(Spaces.BYTES, found.offset);
        if (found.end() > end) put(Spaces.BYTES, part.set(found).clip(end, found.end()));
      }
    } while (cursor < end);
    if (end > start) put(Spaces.BYTES, part.set(piece).clip(start, end));
  }

  /// Puts an attribute, unless there is a higher version of it.
  void attribute(IndexEntry piece) throws IOException {
    if (ObjectLookup.exact(view, map, Spaces.ATTRIBUTES, birth, piece.offset, found)) {
      boolean stays = stays(found, piece);
      var loser = stays ? piece : found;
      long by = Math.max(found.version, piece.version);
      if (loser.version < by) hidden.hidden(loser, loser.offset, loser.offset + 1, by);
      if (stays) return;
    }
    put(Spaces.ATTRIBUTES, piece);
  }

  private boolean stays(IndexEntry old, IndexEntry piece) {
    return switch (tie) {
      case FIRST -> old.version >= piece.version;
      case LAST -> old.version > piece.version;
    };
  }

  private void put(int space, IndexEntry entry) {
    index.insert(map.high(), map.low(), space, stamp, entry);
  }

  private void remove(int space, long offset) {
    index.remove(map.high(), map.low(), space, offset, stamp);
  }
}
