package stoa.storage.index;

import java.io.IOException;
import stoa.storage.segment.EntryOrder;

/// The entries of one object and space in a table.
///
/// One thread at a time inserts; any number of threads look up beside it without locks.
abstract sealed class Series permits RecordSeries, VersionedSeries {
  private final long high;
  private final long low;
  private final int space;

  Series(long high, long low, int space) {
    this.high = high;
    this.low = low;
    this.space = space;
  }

  final long high() {
    return high;
  }

  final long low() {
    return low;
  }

  final int space() {
    return space;
  }

  final boolean is(long otherHigh, long otherLow, int otherSpace) {
    return low == otherLow && high == otherHigh && space == otherSpace;
  }

  static int compare(Series a, Series b) {
    return EntryOrder.compare(a.high, a.low, a.space, b.high, b.low, b.space);
  }

  /// Puts the newest entry with a stamp below `limit` at the greatest offset up to `offset` into
  /// `found`, unless `found` has that offset or a greater one.
  abstract void floor(long offset, long limit, IndexEntry found);

  /// Puts the newest entry with a stamp below `limit` at the least offset from `offset` on into
  /// `found`. Returns whether there is one.
  abstract boolean ceiling(long offset, long limit, IndexEntry found);

  /// Writes the newest entry of each offset, in order. Called after the last insert.
  abstract void writeTo(Pruner pruner) throws IOException;
}
