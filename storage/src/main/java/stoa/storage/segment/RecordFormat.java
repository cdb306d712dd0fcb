package stoa.storage.segment;

import java.util.zip.CRC32C;

/// The places of the fields of records and items; the tables are in the package's text.
public final class RecordFormat {
  static final int RECORD_MAGIC = 0x53524543; // SREC
  public static final int RECORD_HEADER = 44;
  static final int KIND_COMMIT = 1;
  public static final int ALIGNMENT = 8;

  public static final int ITEM_HEADER = 36;
  public static final int ITEM_RECORD = 0;
  public static final int ITEM_DATA = 1;
  static final int ITEM_NOTE_LEAST = 2;

  /// A note of a release, see [Commit#trim].
  public static final int ITEM_TRIM = 8;

  /// The bytes of a DATA item under one checksum.
  public static final int BLOCK = 4096;

  /// A block with its checksum.
  static final int STORED_BLOCK = BLOCK + 4;

  private static final long DIGEST_FACTOR = 0x9e3779b97f4a7c15L;
  private static final long MIX_FACTOR = 0xbf58476d1ce4e5b9L;

  private RecordFormat() {}

  /// Returns the room of a record in a segment, without the padding of direct I/O.
  public static long padded(long length) {
    return (length + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /// Writes the header of a record.
  ///
  /// @param gap bytes of zeros after the padded record, a multiple of [#ALIGNMENT]
  public static void putRecordHeader(
      CRC32C crc,
      byte[] bytes,
      int length,
      int gap,
      int items,
      long position,
      long durable,
      long digest) {
    EncodedNumbers.putInt(bytes, 0, RECORD_MAGIC);
    EncodedNumbers.putInt(bytes, 4, (KIND_COMMIT << 24) | (gap / ALIGNMENT));
    EncodedNumbers.putInt(bytes, 8, length);
    EncodedNumbers.putInt(bytes, 12, items);
    EncodedNumbers.putLong(bytes, 16, position);
    EncodedNumbers.putLong(bytes, 24, durable);
    EncodedNumbers.putLong(bytes, 32, digest);
    EncodedNumbers.putInt(bytes, 40, checksum(crc, bytes, 0, 40));
  }

  /// Returns whether a whole and undamaged record header for this log position is at `at`.
  public static boolean isRecordHeader(CRC32C crc, byte[] bytes, int at, long position) {
    return EncodedNumbers.getInt(bytes, at) == RECORD_MAGIC
        && EncodedNumbers.getLong(bytes, at + 16) == position
        && EncodedNumbers.getInt(bytes, at + 40) == checksum(crc, bytes, at, 40);
  }

  static int length(byte[] bytes, int record) {
    return EncodedNumbers.getInt(bytes, record + 8);
  }

  /// Returns the distance from a record to the next.
  static long stride(byte[] bytes, int record) {
    return padded(length(bytes, record))
        + (long) ALIGNMENT * EncodedNumbers.getShort(bytes, record + 6);
  }

  /// Returns the number of items of a record.
  public static int items(byte[] bytes, int record) {
    return EncodedNumbers.getInt(bytes, record + 12);
  }

  static long durable(byte[] bytes, int record) {
    return EncodedNumbers.getLong(bytes, record + 24);
  }

  /// Returns the digest in the header of a record.
  public static long digest(byte[] bytes, int record) {
    return EncodedNumbers.getLong(bytes, record + 32);
  }

  /// Writes the header of an item without the checksum.
  public static void putItemHeader(
      byte[] bytes, int at, int kind, long high, long low, int space, long offset, int length) {
    EncodedNumbers.putInt(bytes, at + 4, length);
    EncodedNumbers.putLong(bytes, at + 8, high);
    EncodedNumbers.putLong(bytes, at + 16, low);
    EncodedNumbers.putLong(bytes, at + 24, offset);
    EncodedNumbers.putInt(bytes, at + 32, (space << 24) | (kind << 16));
  }

  /// Returns the room of an item's data.
  public static long stored(int kind, int length) {
    return kind == ITEM_DATA ? stored(length) : length;
  }

  /// Returns the room of a DATA item's data, with checksums.
  public static long stored(int length) {
    return length + 4L * blocks(length);
  }

  static int blocks(long length) {
    return (int) ((length + BLOCK - 1) / BLOCK);
  }

  /// Returns the mix of the checksum of a block, which makes it valid at one place of the log only.
  public static int mix(long item, int block) {
    long x = item * DIGEST_FACTOR + block;
    x = (x ^ (x >>> 32)) * MIX_FACTOR;
    x = (x ^ (x >>> 29)) * DIGEST_FACTOR;
    return (int) (x >>> 32);
  }

  /// Returns the digest of a record with the checksum of one more item.
  public static long digest(long digest, int checksum) {
    return (digest ^ (checksum & 0xffffffffL)) * DIGEST_FACTOR + 1;
  }

  /// Returns the checksum of a range.
  public static int checksum(CRC32C crc, byte[] bytes, int from, int length) {
    crc.reset();
    crc.update(bytes, from, length);
    return (int) crc.getValue();
  }
}
