package stoa.storage.index;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Walks the entries of one series in descending order of offset, of each offset the newest,
/// including removed ones. One owner uses it while it holds the state.
final class Descent {
  // Newest first.
  private final Source[] sources;

  /// Creates a walk that begins with the last entry below `offset`.
  Descent(
      IndexState state, BlockCache cache, long limit, long high, long low, int space, long offset)
      throws IOException {
    var found = new ArrayList<Source>();
    addTable(found, state.active(), limit, high, low, space);
    for (var table : state.frozen()) addTable(found, table, limit, high, low, space);
    for (var run : state.runs()) found.add(new RunSource(run, cache, high, low, space));
    sources = found.toArray(Source[]::new);
    for (var source : sources) source.below(offset);
  }

  private static void addTable(
      List<Source> found, Memtable table, long limit, long high, long low, int space) {
    var series = table.find(high, low, space);
    if (series != null) found.add(new TableSource(series, limit));
  }

  /// Puts the next entry into `found`. Returns false, with `found` empty, after the last one.
  boolean next(IndexEntry found) throws IOException {
    Source greatest = null;
    for (var source : sources) {
      if (!source.at.exists()) continue;
      if (greatest == null || source.at.offset > greatest.at.offset) greatest = source;
    }
    if (greatest == null) {
      found.clear();
      return false;
    }
    found.set(greatest.at);
    for (var source : sources) {
      if (source.at.exists() && source.at.offset == found.offset) source.below(found.offset);
    }
    return true;
  }

  /// One table or run; `at` is its last entry below the last requested offset, or empty.
  private abstract static sealed class Source {
    final IndexEntry at = new IndexEntry();

    abstract void below(long offset) throws IOException;
  }

  private static final class TableSource extends Source {
    private final Series series;
    private final long limit;

    TableSource(Series series, long limit) {
      this.series = series;
      this.limit = limit;
    }

    @Override
    void below(long offset) {
      at.clear();
      if (offset > 0) series.floor(offset - 1, limit, at);
    }
  }

  /// Decodes a leaf at a time, since its entries can only be read forwards.
  private static final class RunSource extends Source {
    private final Run run;
    private final BlockCache cache;
    private final long high;
    private final long low;
    private final int space;
    // The entries of the series in the leaf, ascending.
    private IndexEntry[] entries = new IndexEntry[0];
    private int count;

    RunSource(Run run, BlockCache cache, long high, long low, int space) {
      this.run = run;
      this.cache = cache;
      this.high = high;
      this.low = low;
      this.space = space;
    }

    @Override
    void below(long offset) throws IOException {
      while (count > 0 && entries[count - 1].offset >= offset) count--;
      if (count == 0 && offset > 0) decode(offset - 1);
      if (count == 0) at.clear();
      else at.set(entries[--count]);
    }

    private void decode(long offset) throws IOException {
      int block = run.floorLeaf(cache, high, low, space, offset);
      if (block < 0) return;
      var leaf = new LeafCursor();
      leaf.start(cache.get(run, block), 0);
      while (leaf.next()) {
        int order = leaf.compareSeries(high, low, space);
        if (order > 0 || (order == 0 && leaf.offset > offset)) break;
        if (order < 0) continue;
        if (count == entries.length) grow();
        leaf.copyTo(entries[count++]);
      }
    }

    private void grow() {
      int room = entries.length;
      entries = Arrays.copyOf(entries, Math.max(64, 2 * room));
      for (int i = room; i < entries.length; i++) entries[i] = new IndexEntry();
    }
  }
}
