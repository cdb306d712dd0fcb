package stoa.storage.index;

import stoa.storage.segment.EncodedNumbers;
import stoa.storage.segment.EntryOrder;

/// Walks the entries of one leaf block. One owner uses it, again and again.
final class LeafCursor {
  long high;
  long low;
  int space;
  long offset;
  long position;
  int skip;
  long length;
  long version;
  int mark;

  // The version of the last entry that has one.
  private long versionBefore;
  private byte[] bytes = new byte[0];
  private int at;
  private int rest;

  /// Moves before the first entry of the leaf block that begins at an index.
  void start(byte[] buffer, int block) {
    bytes = buffer;
    at = block + RunFormat.BLOCK_HEADER;
    rest = RunFormat.count(buffer, block);
  }

  /// Moves, in a leaf block, before the first entry that is at or above a key, or somewhat further
  /// before.
  void seek(byte[] buffer, long soughtHigh, long soughtLow, int soughtSpace, long soughtOffset) {
    int from = 0;
    int to = EncodedNumbers.getShort(buffer, RunFormat.RESTARTS_END) - 1;
    while (from < to) {
      int middle = (from + to + 1) >>> 1;
      int p = restart(buffer, middle) + 1;
      int order =
          EntryOrder.compare(
              EncodedNumbers.getLong(buffer, p),
              EncodedNumbers.getLong(buffer, p + 8),
              buffer[p + 16] & 0xff,
              soughtHigh,
              soughtLow,
              soughtSpace);
      if (order == 0) order = Long.compare(EncodedNumbers.getVarint(buffer, p + 17), soughtOffset);
      if (order <= 0) from = middle;
      else to = middle - 1;
    }
    bytes = buffer;
    at = restart(buffer, from);
    rest = RunFormat.count(buffer, 0) - from * RunFormat.RESTART_ENTRIES;
  }

  private static int restart(byte[] buffer, int index) {
    return EncodedNumbers.getShort(buffer, RunFormat.RESTARTS_END - 2 * index - 2);
  }

  /// Goes to the next entry, if there is one.
  boolean next() {
    if (rest == 0) return false;
    rest--;
    long delta = varint();
    if (delta == 0) {
      high = EncodedNumbers.getLong(bytes, at);
      low = EncodedNumbers.getLong(bytes, at + 8);
      space = bytes[at + 16] & 0xff;
      at += 17;
      offset = varint();
      position = 0;
      versionBefore = 0;
    } else {
      offset += delta;
    }
    if (space >= EntryOrder.VERSIONED) {
      nextVersioned();
      return true;
    }
    position = delta == 0 ? varint() : position + EncodedNumbers.unzigzag(varint());
    length = varint();
    return true;
  }

  private void nextVersioned() {
    int flags = bytes[at++];
    position += EncodedNumbers.unzigzag(varint());
    mark = flags & RunFormat.FLAGS_MARK;
    if (mark == IndexEntry.REMOVED) {
      skip = 0;
      length = 0;
      version = 0;
      return;
    }
    length = varint();
    skip = (flags & RunFormat.FLAG_SKIP) == 0 ? 0 : (int) varint();
    if ((flags & RunFormat.FLAG_SAME_VERSION) == 0)
      versionBefore += EncodedNumbers.unzigzag(varint());
    version = versionBefore;
  }

  /// Copies the entry, without its series.
  void copyTo(IndexEntry entry) {
    if (space < EntryOrder.VERSIONED) entry.set(offset, position, length);
    else entry.set(offset, position, skip, length, version, mark);
  }

  /// Compares this entry's series with another.
  int compareSeries(long otherHigh, long otherLow, int otherSpace) {
    return EntryOrder.compare(high, low, space, otherHigh, otherLow, otherSpace);
  }

  private long varint() {
    var b = bytes;
    long value = b[at++];
    if (value >= 0) return value;
    value &= 0x7f;
    for (int shift = 7; ; shift += 7) {
      long next = b[at++];
      value |= (next & 0x7f) << shift;
      if (next >= 0) return value;
    }
  }
}
