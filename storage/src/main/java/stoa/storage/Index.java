package stoa.storage;

import java.io.IOException;

/// Where each extent stands in the log: `(object, space, offset) → (log position, length)`.
final class Index {
  private volatile long visible;
  private final Memtable active;

  Index() {
    active = new Memtable(0);
  }

  /// Adds the extents of a record that stands at a log position.
  void insert(byte[] bytes, int record, long position) {
    int at = record + RecordFormat.RECORD_HEADER;
    int count = RecordFormat.extents(bytes, record);
    var table = active;
    for (int i = 0; i < count; i++) {
      int length = Layout.getInt(bytes, at + 4);
      table.insert(
          Layout.getLong(bytes, at + 8),
          Layout.getLong(bytes, at + 16),
          bytes[at + 32] & 0xff,
          Layout.getLong(bytes, at + 24),
          position + at - record,
          length);
      at += RecordFormat.EXTENT_HEADER + length;
    }
  }

  /// Shows readers everything inserted, which ends at a log position.
  void show(long end) {
    visible = end;
  }

  boolean floor(long high, long low, int space, long offset, Entry found) throws IOException {
    long limit = visible;
    var series = active.find(high, low, space);
    if (series != null) series.floor(offset, limit, found);
    return found.exists();
  }

  boolean ceiling(long high, long low, int space, long offset, Entry found) throws IOException {
    long limit = visible;
    var series = active.find(high, low, space);
    return series != null && series.ceiling(offset, limit, found);
  }
}
