package stoa.storage.index;

import java.io.IOException;
import java.util.function.Consumer;
import stoa.storage.disk.CorruptData;

/// The index at one moment: the entries with a stamp below a limit, of each key the newest.
///
/// It keeps the runs of that moment on the disk until it is closed, so hold it only for a short
/// time. Any number of threads may look up at once; lookups after closing fail.
public final class IndexView implements AutoCloseable {
  private final IndexState state;
  private final BlockCache cache;
  private final Consumer<CorruptData> onDamage;
  private final long limit;

  /// Creates a view. The caller has acquired the state; closing releases it.
  ///
  /// @param onDamage receives damage that a lookup meets
  IndexView(IndexState state, BlockCache cache, Consumer<CorruptData> onDamage, long limit) {
    this.state = state;
    this.cache = cache;
    this.onDamage = onDamage;
    this.limit = limit;
  }

  /// Returns another view of the same moment, with a close of its own.
  public IndexView again() {
    if (!state.acquire()) throw new IllegalStateException("the view was closed");
    return new IndexView(state, cache, onDamage, limit);
  }

  /// Returns the moment that this shows: the stamps of its entries are below.
  long limit() {
    return limit;
  }

  /// Puts the entry at the greatest offset at or below `offset` that is not removed into `found`.
  /// Returns whether there is one; without one, `found` is empty.
  public boolean floor(long high, long low, int space, long offset, IndexEntry found)
      throws IOException {
    return floor(high, low, space, offset, 0, found);
  }

  /// Looks like [#floor(long, long, int, long, IndexEntry)], and skips entries with positions below
  /// `positionLeast` too.
  public boolean floor(
      long high, long low, int space, long offset, long positionLeast, IndexEntry found)
      throws IOException {
    found.clear();
    try {
      state.floor(cache, limit, high, low, space, offset, found);
      if (!found.exists()) return false;
      if (!found.isRemoved() && found.position >= positionLeast) return true;
      // Removed entries come in crowds: from here on each source walks down by itself.
      var descent = new Descent(state, cache, limit, high, low, space, found.offset);
      while (descent.next(found)) {
        if (!found.isRemoved() && found.position >= positionLeast) return true;
      }
      return false;
    } catch (CorruptData e) {
      onDamage.accept(e);
      throw e;
    }
  }

  /// Begins a walk over the entries of a series from an offset on that are not removed.
  public IndexScan scan(long high, long low, int space, long from) throws IOException {
    return scan(high, low, space, from, 0);
  }

  /// Begins a walk like [#scan(long, long, int, long)], and skips entries with positions below
  /// `positionLeast` too.
  public IndexScan scan(long high, long low, int space, long from, long positionLeast)
      throws IOException {
    if (!state.acquire()) throw new IllegalStateException("the view was closed");
    try {
      return new IndexScan(state, cache, onDamage, limit, high, low, space, from, positionLeast);
    } catch (IOException | RuntimeException e) {
      state.release();
      if (e instanceof CorruptData damage) onDamage.accept(damage);
      throw e;
    }
  }

  /// Begins a walk over the entries of all series that are not removed, in order. It ends with this
  /// view.
  public IndexWalk walk() throws IOException {
    try {
      return new IndexWalk(state, cache, onDamage, limit);
    } catch (CorruptData e) {
      onDamage.accept(e);
      throw e;
    }
  }

  /// Visits the entries of all series that are not removed, in order, until the visitor returns
  /// false.
  public void walk(Visitor visitor) throws IOException {
    var walk = walk();
    while (walk.next()) {
      if (!visitor.visit(walk.high(), walk.low(), walk.space(), walk.entry())) return;
    }
  }

  /// Receives the entries of a walk.
  @FunctionalInterface
  public interface Visitor {
    /// Receives one entry, which is valid during the call; returns whether to go on.
    boolean visit(long high, long low, int space, IndexEntry entry) throws IOException;
  }

  @Override
  public void close() {
    state.release();
  }
}
