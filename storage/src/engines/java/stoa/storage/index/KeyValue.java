package stoa.storage.index;

import stoa.storage.segment.EntryOrder;
import stoa.storage.segment.Layout;

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
    return Layout.getLong(key, 17);
  }

  static boolean isOf(byte[] key, long high, long low, int space) {
    return Layout.getLong(key, 8) == low
        && Layout.getLong(key, 0) == high
        && (key[16] & 0xff) == space;
  }

  /// Writes a value and answers its length.
  static int put(byte[] bytes, int space, Entry entry) {
    int p = Layout.putVarint(bytes, 0, entry.position);
    p = Layout.putVarint(bytes, p, entry.length);
    if (space < EntryOrder.VERSIONED) return p;
    p = Layout.putVarint(bytes, p, entry.skip);
    return Layout.putVarint(bytes, p, entry.version);
  }

  static void get(byte[] value, int space, long offset, Entry entry) {
    long position = Layout.getVarint(value, 0);
    int p = end(value, 0);
    long length = Layout.getVarint(value, p);
    if (space < EntryOrder.VERSIONED) {
      entry.set(offset, position, length);
      return;
    }
    p = end(value, p);
    int skip = (int) Layout.getVarint(value, p);
    long version = Layout.getVarint(value, end(value, p));
    entry.set(offset, position, skip, length, version, Entry.DATA);
  }

  private static int end(byte[] bytes, int from) {
    int p = from;
    while (bytes[p] < 0) p++;
    return p + 1;
  }
}
