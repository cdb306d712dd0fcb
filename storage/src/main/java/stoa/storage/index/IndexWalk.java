package stoa.storage.index;

import java.io.IOException;
import java.util.function.Consumer;
import stoa.storage.disk.CorruptData;
import stoa.storage.segment.EntryOrder;

/// Walks the entries of all series in the order of the index, of each key the newest, without
/// removed ones. One owner uses it, while its view is open.
public final class IndexWalk {
  private final BlockCache cache;
  private final Consumer<CorruptData> onDamage;
  // Newest first.
  private final Source[] sources;
  private final IndexEntry entry = new IndexEntry();
  private long high;
  private long low;
  private int space;

  /// Creates a walk that begins with the first entry.
  IndexWalk(IndexState state, BlockCache cache, Consumer<CorruptData> onDamage, long limit)
      throws IOException {
    this.cache = cache;
    this.onDamage = onDamage;
    var frozen = state.frozen();
    var runs = state.runs();
    sources = new Source[1 + frozen.length + runs.length];
    int n = 0;
    sources[n++] = new TableSource(state.active(), limit);
    for (var table : frozen) sources[n++] = new TableSource(table, limit);
    for (var run : runs) sources[n++] = new RunSource(run);
    for (var source : sources) source.advance();
  }

  /// Returns the upper half of the present entry's object.
  public long high() {
    return high;
  }

  /// Returns the lower half of the present entry's object.
  public long low() {
    return low;
  }

  /// Returns the space of the present entry.
  public int space() {
    return space;
  }

  /// Returns the present entry.
  public IndexEntry entry() {
    return entry;
  }

  /// Goes to the next entry. Returns false after the last one.
  public boolean next() throws IOException {
    try {
      while (advance()) {
        if (!entry.isRemoved()) return true;
      }
      return false;
    } catch (CorruptData e) {
      onDamage.accept(e);
      throw e;
    }
  }

  private boolean advance() throws IOException {
    Source least = null;
    for (var source : sources) {
      if (!source.live) continue;
      if (least == null || source.compare(least) < 0) least = source;
    }
    if (least == null) return false;
    high = least.high;
    low = least.low;
    space = least.space;
    entry.set(least.at);
    for (var source : sources) {
      if (source.live && source.compare(high, low, space, entry.offset) == 0) source.advance();
    }
    return true;
  }

  /// Moves forward so that the next entry is the first one at or above a key, unless the walk is
  /// beyond that key already.
  public void seek(long soughtHigh, long soughtLow, int soughtSpace, long soughtOffset)
      throws IOException {
    try {
      for (var source : sources)
        source.seek(cache, soughtHigh, soughtLow, soughtSpace, soughtOffset);
    } catch (CorruptData e) {
      onDamage.accept(e);
      throw e;
    }
  }

  /// Moves forward so that the next entry is the first one of a later object.
  public void skipObject() throws IOException {
    seek(high, low, 256, 0);
  }

  /// One table or run, and its next entry.
  private abstract static sealed class Source {
    // The number of single steps before a search in the tree.
    private static final int STEPS_MAX = 64;

    final IndexEntry at = new IndexEntry();
    long high;
    long low;
    int space;
    boolean live;

    abstract void advance() throws IOException;

    abstract void jump(BlockCache cache, long toHigh, long toLow, int toSpace, long toOffset)
        throws IOException;

    final void seek(BlockCache cache, long toHigh, long toLow, int toSpace, long toOffset)
        throws IOException {
      for (int i = 0; live && compare(toHigh, toLow, toSpace, toOffset) < 0; i++) {
        if (i == STEPS_MAX) jump(cache, toHigh, toLow, toSpace, toOffset);
        else advance();
      }
    }

    final int compare(Source other) {
      return compare(other.high, other.low, other.space, other.at.offset);
    }

    final int compare(long otherHigh, long otherLow, int otherSpace, long otherOffset) {
      int bySeries = EntryOrder.compare(high, low, space, otherHigh, otherLow, otherSpace);
      return bySeries != 0 ? bySeries : Long.compare(at.offset, otherOffset);
    }
  }

  private static final class TableSource extends Source {
    private final Series[] all;
    private final long limit;
    private int index;
    // A lower bound of the next entry; negative after the last one of a series.
    private long from;

    TableSource(Memtable table, long limit) {
      this.all = table.sorted();
      this.limit = limit;
    }

    @Override
    void advance() {
      live = false;
      while (index < all.length) {
        var series = all[index];
        if (from >= 0 && series.ceiling(from, limit, at)) {
          high = series.high();
          low = series.low();
          space = series.space();
          from = at.offset + 1;
          live = true;
          return;
        }
        index++;
        from = 0;
      }
    }

    @Override
    void jump(BlockCache cache, long toHigh, long toLow, int toSpace, long toOffset) {
      int end = all.length;
      while (index < end) {
        int middle = (index + end) >>> 1;
        var series = all[middle];
        int order =
            EntryOrder.compare(series.high(), series.low(), series.space(), toHigh, toLow, toSpace);
        if (order < 0) index = middle + 1;
        else end = middle;
      }
      boolean there = index < all.length && all[index].is(toHigh, toLow, toSpace);
      from = there ? toOffset : 0;
      advance();
    }
  }

  private static final class RunSource extends Source {
    private final Run run;
    private RunScanner scanner;

    RunSource(Run run) {
      this.run = run;
      this.scanner = new RunScanner(run);
    }

    @Override
    void advance() throws IOException {
      live = scanner.next();
      if (!live) return;
      var leaf = scanner.entry();
      high = leaf.high;
      low = leaf.low;
      space = leaf.space;
      leaf.copyTo(at);
    }

    @Override
    void jump(BlockCache cache, long toHigh, long toLow, int toSpace, long toOffset)
        throws IOException {
      int leaf = run.leafAt(cache, toHigh, toLow, toSpace, toOffset);
      var bytes = cache.get(run, leaf);
      scanner = new RunScanner(run, leaf, bytes, toHigh, toLow, toSpace, toOffset);
      do {
        advance();
      } while (live && compare(toHigh, toLow, toSpace, toOffset) < 0);
    }
  }
}
