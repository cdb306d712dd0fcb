package stoa.storage;

import java.util.zip.CRC32C;

/// Where the fields of segments, records and extents lie; the tables are in the package's text.
final class RecordFormat {
  static final int VERSION = 1;

  static final long SEGMENT_MAGIC = 0x53544f415345474dL; // STOASEGM
  static final int SEGMENT_HEADER = 32;

  static final int RECORD_MAGIC = 0x53524543; // SREC
  static final int RECORD_HEADER = 44;
  static final int KIND_COMMIT = 1;
  static final int ALIGNMENT = 8;

  static final int EXTENT_HEADER = 36;

  private static final long DIGEST_FACTOR = 0x9e3779b97f4a7c15L;

  private RecordFormat() {}

  /// The room that a record takes in a segment.
  static long padded(long length) {
    return (length + ALIGNMENT - 1) & -ALIGNMENT;
  }

  static byte[] segmentHeader(int number, long base) {
    var bytes = new byte[SEGMENT_HEADER];
    Layout.putLong(bytes, 0, SEGMENT_MAGIC);
    Layout.putInt(bytes, 8, VERSION);
    Layout.putInt(bytes, 12, number);
    Layout.putLong(bytes, 16, base);
    Layout.putInt(bytes, 24, checksum(new CRC32C(), bytes, 0, 24));
    return bytes;
  }

  static void putRecordHeader(
      CRC32C crc, byte[] bytes, int length, int extents, long position, long durable, long digest) {
    Layout.putInt(bytes, 0, RECORD_MAGIC);
    Layout.putInt(bytes, 4, KIND_COMMIT << 24);
    Layout.putInt(bytes, 8, length);
    Layout.putInt(bytes, 12, extents);
    Layout.putLong(bytes, 16, position);
    Layout.putLong(bytes, 24, durable);
    Layout.putLong(bytes, 32, digest);
    Layout.putInt(bytes, 40, checksum(crc, bytes, 0, 40));
  }

  /// Whether a whole and unharmed record header for this log position stands at `at`.
  static boolean isRecordHeader(CRC32C crc, byte[] bytes, int at, long position) {
    return Layout.getInt(bytes, at) == RECORD_MAGIC
        && Layout.getLong(bytes, at + 16) == position
        && Layout.getInt(bytes, at + 40) == checksum(crc, bytes, at, 40);
  }

  static int length(byte[] bytes, int record) {
    return Layout.getInt(bytes, record + 8);
  }

  static int extents(byte[] bytes, int record) {
    return Layout.getInt(bytes, record + 12);
  }

  static long durable(byte[] bytes, int record) {
    return Layout.getLong(bytes, record + 24);
  }

  /// Whether the extents behind an unharmed header are whole, unharmed and the ones it was written
  /// for. The record's bytes are all there.
  static boolean isBodyWhole(CRC32C crc, byte[] bytes, int record) {
    int end = record + length(bytes, record);
    int at = record + RECORD_HEADER;
    int count = extents(bytes, record);
    long digest = 0;
    for (int i = 0; i < count; i++) {
      if (end - at < EXTENT_HEADER) return false;
      int dataLength = Layout.getInt(bytes, at + 4);
      if (dataLength < 0 || dataLength > end - at - EXTENT_HEADER) return false;
      int sum = checksum(crc, bytes, at + 4, EXTENT_HEADER - 4 + dataLength);
      if (sum != Layout.getInt(bytes, at)) return false;
      digest = digest(digest, sum);
      at += EXTENT_HEADER + dataLength;
    }
    return at == end && digest == Layout.getLong(bytes, record + 32);
  }

  /// Adds the checksum of one more extent to the digest of a record.
  static long digest(long digest, int checksum) {
    return (digest ^ (checksum & 0xffffffffL)) * DIGEST_FACTOR + 1;
  }

  static int checksum(CRC32C crc, byte[] bytes, int from, int length) {
    crc.reset();
    crc.update(bytes, from, length);
    return (int) crc.getValue();
  }
}
