package stoa.storage.index;

import stoa.storage.segment.EncodedNumbers;
import stoa.storage.segment.EntryOrder;

/// The keys in a fence block: the first key of a child, and the block of the child.
final class FenceKey {
  static final int BYTES = 25;

  private FenceKey() {}

  static void put(byte[] bytes, int at, long high, long low, int space, long offset) {
    EncodedNumbers.putLong(bytes, at, high);
    EncodedNumbers.putLong(bytes, at + 8, low);
    bytes[at + 16] = (byte) space;
    EncodedNumbers.putLong(bytes, at + 17, offset);
  }

  static int child(byte[] fences, int index) {
    return EncodedNumbers.getInt(
        fences, RunFormat.FENCES + index * RunFormat.FENCE_ENTRY + FenceKey.BYTES);
  }

  /// Returns the index of the last fence at or below a key, or -1.
  static int lastAtOrBelow(byte[] fences, long high, long low, int space, long offset) {
    int from = -1;
    int to = RunFormat.count(fences, 0) - 1;
    while (from < to) {
      int middle = (from + to + 1) >> 1;
      int at = RunFormat.FENCES + middle * RunFormat.FENCE_ENTRY;
      int order =
          EntryOrder.compare(
              EncodedNumbers.getLong(fences, at),
              EncodedNumbers.getLong(fences, at + 8),
              fences[at + 16] & 0xff,
              high,
              low,
              space);
      if (order < 0 || (order == 0 && EncodedNumbers.getLong(fences, at + 17) <= offset))
        from = middle;
      else to = middle - 1;
    }
    return from;
  }
}
