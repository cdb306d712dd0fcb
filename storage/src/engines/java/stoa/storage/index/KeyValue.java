package stoa.storage.index;

import stoa.storage.segment.EncodedNumbers;
import stoa.storage.segment.EntryOrder;

/// Entries as keys and values for the engines that take bytes: keys in the order of the index,
/// values of numbers in seven bits a byte.
final class KeyValue {
  static final int KEY = 25;
  static final int VALUE_MAX = 36;

  private KeyValue() {}

  static byte[] key(long high, long low, int space, long offset) {
    var key = new byte[KEY];
    FenceKey.put(key, 0, high, low, space, offset);
    return key;
  }

  static long offset(byte[] key) {
    return EncodedNumbers.getLong(key, 17);
  }

  static boolean isOf(byte[] key, long high, long low, int space) {
    return EncodedNumbers.getLong(key, 8) == low
        && EncodedNumbers.getLong(key, 0) == high
        && (key[16] & 0xff) == space;
  }

  /// Writes a value and answers its length.
  static int put(byte[] bytes, int space, IndexEntry entry) {
    int p = EncodedNumbers.putVarint(bytes, 0, entry.position);
    p = EncodedNumbers.putVarint(bytes, p, entry.length);
    if (space < EntryOrder.VERSIONED) return p;
    p = EncodedNumbers.putVarint(bytes, p, entry.skip);
    return EncodedNumbers.putVarint(bytes, p, entry.version);
  }

  static void get(byte[] value, int space, long offset, IndexEntry entry) {
    long position = EncodedNumbers.getVarint(value, 0);
    int p = end(value, 0);
    long length = EncodedNumbers.getVarint(value, p);
    if (space < EntryOrder.VERSIONED) {
      entry.set(offset, position, length);
      return;
    }
    p = end(value, p);
    int skip = (int) EncodedNumbers.getVarint(value, p);
    long version = EncodedNumbers.getVarint(value, end(value, p));
    entry.set(offset, position, skip, length, version, IndexEntry.DATA);
  }

  private static int end(byte[] bytes, int from) {
    int p = from;
    while (bytes[p] < 0) p++;
    return p + 1;
  }
}
