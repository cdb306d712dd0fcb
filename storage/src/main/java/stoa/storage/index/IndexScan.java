package stoa.storage.index;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import stoa.storage.disk.CorruptData;

/// Walks the entries of one series in ascending order of offset, of each offset the newest, without
/// removed ones, as of the beginning of the walk. One owner uses it and closes it.
public final class IndexScan implements AutoCloseable {
  private final IndexState state;
  private final Consumer<CorruptData> onDamage;
  // Newest first.
  private final Source[] sources;
  private final long positionLeast;
  private final IndexEntry entry = new IndexEntry();

  /// Creates a walk that begins with the first entry at or above `from`. The caller has acquired
  /// the state; closing releases it.
  ///
  /// @param onDamage receives damage that the walk meets
  /// @param limit the stamps of the entries are below
  /// @param positionLeast the walk skips entries with positions below
  IndexScan(
      IndexState state,
      BlockCache cache,
      Consumer<CorruptData> onDamage,
      long limit,
      long high,
      long low,
      int space,
      long from,
      long positionLeast)
      throws IOException {
    this.state = state;
    this.onDamage = onDamage;
    this.positionLeast = positionLeast;
    var found = new ArrayList<Source>();
    addTable(found, state.active(), limit, high, low, space);
    for (var table : state.frozen()) addTable(found, table, limit, high, low, space);
    for (var run : state.runs()) {
      int leaf = run.ceilingLeaf(cache, high, low, space, from);
      if (leaf < 0) continue;
      var bytes = cache.get(run, leaf);
      var scanner = new RunScanner(run, leaf, bytes, high, low, space, from);
      found.add(new RunSource(scanner, high, low, space));
    }
    sources = found.toArray(Source[]::new);
    for (var source : sources) source.advance(from);
  }

  private static void addTable(
      List<Source> found, Memtable table, long limit, long high, long low, int space) {
    var series = table.find(high, low, space);
    if (series != null) found.add(new TableSource(series, limit));
  }

  /// Returns the present entry.
  public IndexEntry entry() {
    return entry;
  }

  /// Goes to the next entry. Returns false after the last one.
  public boolean next() throws IOException {
    try {
      while (advance()) {
        if (!entry.isRemoved() && entry.position >= positionLeast) return true;
      }
      return false;
    } catch (CorruptData e) {
      onDamage.accept(e);
      throw e;
    }
  }

  private boolean advance() throws IOException {
    if (entry.offset == Long.MAX_VALUE) return false;
    long from = entry.offset + 1;
    Source least = null;
    for (var source : sources) {
      if (source.at.exists() && source.at.offset < from) source.advance(from);
      if (!source.at.exists()) continue;
      if (least == null || source.at.offset < least.at.offset) least = source;
    }
    if (least == null) return false;
    entry.set(least.at);
    return true;
  }

  @Override
  public void close() {
    state.release();
  }

  /// One table or run; `at` is its first entry at or above the last requested offset, or empty.
  private abstract static sealed class Source {
    final IndexEntry at = new IndexEntry();

    abstract void advance(long from) throws IOException;
  }

  private static final class TableSource extends Source {
    private final Series series;
    private final long limit;

    TableSource(Series series, long limit) {
      this.series = series;
      this.limit = limit;
    }

    @Override
    void advance(long from) {
      if (!series.ceiling(from, limit, at)) at.clear();
    }
  }

  private static final class RunSource extends Source {
    private final RunScanner scanner;
    private final long high;
    private final long low;
    private final int space;

    RunSource(RunScanner scanner, long high, long low, int space) {
      this.scanner = scanner;
      this.high = high;
      this.low = low;
      this.space = space;
    }

    @Override
    void advance(long from) throws IOException {
      at.clear();
      while (scanner.next()) {
        var entry = scanner.entry();
        int order = entry.compareSeries(high, low, space);
        if (order > 0) return;
        if (order == 0 && entry.offset >= from) {
          entry.copyTo(at);
          return;
        }
      }
    }
  }
}
