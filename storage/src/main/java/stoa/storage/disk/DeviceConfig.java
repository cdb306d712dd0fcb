package stoa.storage.disk;

/// How a device is laid out, and what it may take of the heap.
///
/// @param segmentBytes the size at which a new segment begins; a larger commit gets a segment of
///   its own. On a disk with room for less than 32 segments, these are as much smaller
/// @param fillAheadBytes how far a segment is filled with zeros ahead of small durable commits, so
///   that their syncs need not change the file's size; 0 turns it off
/// @param memtableBytesMax heap for index entries not yet on disk; there may be three such tables
///   at a time, one filling and two waiting to be written
/// @param cacheBytesMax heap for index blocks read from disk
/// @param directIo whether segments are written and read past the operating system's cache; a disk
///   that cannot refuses to be opened
public record DeviceConfig(
    int segmentBytes,
    int fillAheadBytes,
    int memtableBytesMax,
    int cacheBytesMax,
    DirectIo directIo) {
  private static final int LEAST = 4 << 10;

  /// A segment is at most one of as many parts of its disk, unless these would be too small.
  private static final int PARTS = 32;

  private static final int PART_BYTES_LEAST = 256 << 10;

  public DeviceConfig {
    atLeast("segmentBytes", segmentBytes, LEAST);
    atLeast("fillAheadBytes", fillAheadBytes, 0);
    atLeast("memtableBytesMax", memtableBytesMax, LEAST);
    atLeast("cacheBytesMax", cacheBytesMax, LEAST);
  }

  /// A layout with segments in the operating system's cache.
  public DeviceConfig(
      int segmentBytes, int fillAheadBytes, int memtableBytesMax, int cacheBytesMax) {
    this(segmentBytes, fillAheadBytes, memtableBytesMax, cacheBytesMax, DirectIo.OFF);
  }

  /// The standard layout with another segment size.
  public DeviceConfig(int segmentBytes) {
    this(segmentBytes, 1 << 20, 8 << 20, 16 << 20);
  }

  /// The standard layout.
  public static DeviceConfig standard() {
    return new DeviceConfig(64 << 20);
  }

  /// This layout with another [#fillAheadBytes()].
  public DeviceConfig withFillAheadBytes(int value) {
    return new DeviceConfig(segmentBytes, value, memtableBytesMax, cacheBytesMax, directIo);
  }

  /// This layout with another [#memtableBytesMax()].
  public DeviceConfig withMemtableBytesMax(int value) {
    return new DeviceConfig(segmentBytes, fillAheadBytes, value, cacheBytesMax, directIo);
  }

  /// This layout with another [#cacheBytesMax()].
  public DeviceConfig withCacheBytesMax(int value) {
    return new DeviceConfig(segmentBytes, fillAheadBytes, memtableBytesMax, value, directIo);
  }

  /// This layout with another [#directIo()].
  public DeviceConfig withDirectIo(DirectIo value) {
    return new DeviceConfig(segmentBytes, fillAheadBytes, memtableBytesMax, cacheBytesMax, value);
  }

  /// This layout with segments, and tables of the index, that are small beside a disk: what keeps a
  /// device in order needs room for one of each.
  ///
  /// @param diskBytes how many bytes the disk may ever have
  public DeviceConfig fitting(long diskBytes) {
    long share = Math.max(PART_BYTES_LEAST, diskBytes / PARTS & -PART_BYTES_LEAST);
    return new DeviceConfig(
        (int) Math.min(segmentBytes, share),
        fillAheadBytes,
        (int) Math.min(memtableBytesMax, share),
        cacheBytesMax,
        directIo);
  }

  private static void atLeast(String name, int value, int least) {
    if (value < least) {
      throw new IllegalArgumentException(name + " is " + value + "; the least is " + least);
    }
  }
}
