package stoa.storage.index;

import java.io.IOException;
import stoa.storage.disk.CorruptData;
import stoa.storage.segment.EntryOrder;

/// Passes entries on to a new run, except those that are no longer needed. One owner uses it.
final class Pruner {
  /*
   * A removed or dead entry must go on hiding older entries of its key, which may be in older runs.
   * So it becomes, or stays, a removal; only the oldest run leaves it out. Trimmed entries need no
   * such thing: the bound that hides them hides the older ones too.
   */
  private final RunWriter writer;
  private final boolean oldest;
  private final Births births;
  private final IndexView view;
  private final Trims.Walk trims;

  // The last requested object.
  private boolean asked;
  private long high;
  private long low;
  private long deadBelow;

  /// @param oldest whether no older run is left beside the new one
  Pruner(RunWriter writer, boolean oldest, Births births, Trims.Walk trims, IndexView view) {
    this.writer = writer;
    this.oldest = oldest;
    this.births = births;
    this.view = view;
    this.trims = trims;
  }

  void add(
      long entryHigh,
      long entryLow,
      int space,
      long offset,
      long position,
      int skip,
      long length,
      long version,
      int mark)
      throws IOException {
    if (space < EntryOrder.VERSIONED) {
      if (offset < trimmedBefore(entryHigh, entryLow, space)) return;
      writer.add(entryHigh, entryLow, space, offset, position, skip, length, version, mark);
      return;
    }
    boolean mayDie = space != Spaces.TRIMS; // which is independent of the versioned object
    boolean gone =
        mark == IndexEntry.REMOVED || (mayDie && position < deadBelow(entryHigh, entryLow));
    if (!gone) {
      writer.add(entryHigh, entryLow, space, offset, position, skip, length, version, mark);
    } else if (!oldest) {
      writer.add(entryHigh, entryLow, space, offset, position, 0, 0, 0, IndexEntry.REMOVED);
    }
  }

  private long trimmedBefore(long entryHigh, long entryLow, int space) throws IOException {
    try {
      return trims.before(entryHigh, entryLow, space);
    } catch (CorruptData e) {
      return 0; // as in deadBelow
    }
  }

  private long deadBelow(long entryHigh, long entryLow) throws IOException {
    if (!asked || high != entryHigh || low != entryLow) {
      try {
        deadBelow = births.deadBelow(view, entryHigh, entryLow);
      } catch (CorruptData e) {
        deadBelow = 0; // pruning can do without the answer of a damaged run
      }
      high = entryHigh;
      low = entryLow;
      asked = true;
    }
    return deadBelow;
  }
}
