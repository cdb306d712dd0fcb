package stoa.storage.segment;

import java.util.Collection;
import java.util.List;
import java.util.zip.CRC32C;

/// The beginning of a segment: its number and base, and the live segments when it began. The table
/// is in the package's text.
///
/// @param bytes the length of the header, where the first record begins
/// @param live in ascending order
public record SegmentHeader(int number, long base, int bytes, List<Live> live) {
  static final int VERSION = 2;
  static final long MAGIC = 0x53544f415345474dL; // STOASEGM

  /// The length of the part that is the same in every format version, with its checksum.
  static final int FIXED = 28;

  /// The shortest header, without the list.
  public static final int LEAST = 40;

  private static final int ITEM = 20;

  /// An older segment.
  ///
  /// @param end the log position after its last record
  public record Live(int number, long base, long end) {}

  /// Returns the header's bytes, a multiple of `alignment`.
  public static byte[] encode(int number, long base, Collection<Segment> live, int alignment) {
    int length = (LEAST + ITEM * live.size() + alignment - 1) / alignment * alignment;
    var bytes = new byte[length];
    var crc = new CRC32C();
    EncodedNumbers.putLong(bytes, 0, MAGIC);
    EncodedNumbers.putInt(bytes, 8, VERSION);
    EncodedNumbers.putInt(bytes, 12, number);
    EncodedNumbers.putLong(bytes, 16, base);
    EncodedNumbers.putInt(bytes, 24, RecordFormat.checksum(crc, bytes, 0, 24));
    EncodedNumbers.putInt(bytes, 28, length);
    EncodedNumbers.putInt(bytes, 32, live.size());
    int at = LEAST;
    for (var segment : live) {
      EncodedNumbers.putInt(bytes, at, segment.number());
      EncodedNumbers.putLong(bytes, at + 4, segment.base());
      EncodedNumbers.putLong(bytes, at + 12, segment.end());
      at += ITEM;
    }
    EncodedNumbers.putInt(bytes, 36, listChecksum(crc, bytes));
    return bytes;
  }

  private static int listChecksum(CRC32C crc, byte[] bytes) {
    crc.reset();
    crc.update(bytes, 0, 36);
    crc.update(bytes, LEAST, bytes.length - LEAST);
    return (int) crc.getValue();
  }

  /// Returns the length of a header from its first bytes, or -1 when it is impossible.
  static int length(byte[] fixed) {
    int length = EncodedNumbers.getInt(fixed, 28);
    int count = EncodedNumbers.getInt(fixed, 32);
    boolean fits = length >= LEAST && count >= 0 && count <= (length - LEAST) / ITEM;
    return fits && length % RecordFormat.ALIGNMENT == 0 ? length : -1;
  }

  /// Returns whether the checksum over a whole header, its list included, is right.
  static boolean isWhole(byte[] bytes) {
    return EncodedNumbers.getInt(bytes, 36) == listChecksum(new CRC32C(), bytes);
  }

  /// Returns the header in a whole one's bytes.
  static SegmentHeader decode(byte[] bytes) {
    var live = new Live[EncodedNumbers.getInt(bytes, 32)];
    for (int i = 0; i < live.length; i++) {
      int at = LEAST + ITEM * i;
      live[i] =
          new Live(
              EncodedNumbers.getInt(bytes, at),
              EncodedNumbers.getLong(bytes, at + 4),
              EncodedNumbers.getLong(bytes, at + 12));
    }
    return new SegmentHeader(
        EncodedNumbers.getInt(bytes, 12),
        EncodedNumbers.getLong(bytes, 16),
        bytes.length,
        List.of(live));
  }
}
