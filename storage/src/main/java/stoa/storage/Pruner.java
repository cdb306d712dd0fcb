package stoa.storage;

import java.io.IOException;

/// Hands entries on to a new run, but for those that nobody needs any more. One owner uses it.
final class Pruner {
  /*
   * What is removed or dead must go on hiding older entries of its key, which may lie in older runs.
   * So it becomes, or stays, a removal; only in the oldest run is it left out.
   */
  private final RunWriter writer;
  private final boolean oldest;
  private final Births births;
  private final IndexView view;

  // The object asked for last.
  private boolean asked;
  private long high;
  private long low;
  private long deadBelow;

  /// @param oldest whether no older run is left when the new one is in place
  Pruner(RunWriter writer, boolean oldest, Births births, IndexView view) {
    this.writer = writer;
    this.oldest = oldest;
    this.births = births;
    this.view = view;
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
    boolean gone =
        space >= EntryOrder.VERSIONED
            && (mark == Entry.REMOVED || position < deadBelow(entryHigh, entryLow));
    if (!gone) {
      writer.add(entryHigh, entryLow, space, offset, position, skip, length, version, mark);
    } else if (!oldest) {
      writer.add(entryHigh, entryLow, space, offset, position, 0, 0, 0, Entry.REMOVED);
    }
  }

  private long deadBelow(long entryHigh, long entryLow) throws IOException {
    if (!asked || high != entryHigh || low != entryLow) {
      try {
        deadBelow = births.deadBelow(view, entryHigh, entryLow);
      } catch (CorruptData e) {
        deadBelow = 0; // what a damaged run would have said is not needed to go on
      }
      high = entryHigh;
      low = entryLow;
      asked = true;
    }
    return deadBelow;
  }
}
