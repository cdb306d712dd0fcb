package stoa.storage.object;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.storage.index.IndexEntry;
import stoa.storage.index.IndexScan;
import stoa.storage.index.IndexView;
import stoa.storage.index.Spaces;

/// Walks the extents that are visible at an object or a snapshot, in ascending order. One owner
/// uses it and closes it.
public final class ExtentSweep implements AutoCloseable {
  /*
   * An object has one map. A snapshot needs several: its own delta, those of the newer snapshots,
   * the object's map; a fork also those of the snapshot that it began as. At every offset the highest version that the snapshot's state has is the
   * visible one. So the sweep goes from bound to bound: the next place where an extent of any of
   * the maps begins or ends.
   */
  private final List<Cursor> cursors = new ArrayList<>();
  private final long end;
  private final IndexEntry visible = new IndexEntry();
  private long at;

  /// Creates a sweep that begins with the first extent that overlaps the offsets from `from` to
  /// `end`.
  ///
  /// @param layers the maps to look through
  ExtentSweep(IndexView view, List<ObjectMoment.Layer> layers, long from, long end)
      throws IOException {
    this.at = from;
    this.end = end;
    try {
      for (var layer : layers) cursors.add(new Cursor(view, layer, from));
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  /// Returns the present extent, cut to the requested offsets.
  public IndexEntry extent() {
    return visible;
  }

  /// Goes to the next extent. Returns false after the last one.
  public boolean next() throws IOException {
    while (at < end) {
      long bound = end;
      IndexEntry best = null;
      for (var cursor : cursors) {
        cursor.advance(at);
        var entry = cursor.entry;
        if (!entry.exists()) continue;
        if (entry.offset > at) {
          bound = Math.min(bound, entry.offset);
          continue;
        }
        bound = Math.min(bound, entry.end());
        if (cursor.state != null && !cursor.state.contains(entry.version)) continue;
        if (best == null || entry.version > best.version) best = entry;
      }
      long from = at;
      at = bound;
      if (best != null) {
        visible.set(best).clip(from, bound);
        return true;
      }
    }
    return false;
  }

  @Override
  public void close() {
    for (var cursor : cursors) cursor.scan.close();
  }

  /// The entries of one map.
  private static final class Cursor {
    final IndexEntry entry = new IndexEntry();
    final IndexScan scan;
    final @Nullable VersionState state;
    private boolean done;

    Cursor(IndexView view, ObjectMoment.Layer layer, long from) throws IOException {
      var map = layer.map();
      long birth = layer.birth();
      state = layer.state();
      boolean before = ObjectLookup.floor(view, map, Spaces.BYTES, birth, from, entry);
      if (!before) entry.clear();
      long next = from == Long.MAX_VALUE ? from : from + 1;
      scan = view.scan(map.high(), map.low(), Spaces.BYTES, next, birth);
    }

    /// Goes to the first entry that ends after an offset.
    void advance(long offset) throws IOException {
      while (!done && (!entry.exists() || entry.end() <= offset)) step();
    }

    private void step() throws IOException {
      done = !scan.next();
      if (done) entry.clear();
      else entry.set(scan.entry());
    }
  }
}
