package stoa.storage.disk;

/// The layout of a device, the heap that it may use, and its limits.
///
/// @param segmentBytes the size at which a new segment begins; a larger commit gets a segment of
///   its own. On a disk with room for less than 32 segments, they are smaller accordingly
/// @param fillAheadBytes how far a segment is filled with zeros ahead of small durable commits, so
///   that their syncs need not change the file's size; 0 turns it off
/// @param memtableBytesMax heap for index entries not yet on disk; there may be three such tables
///   at a time, one filling and two waiting to be written
/// @param cacheBytesMax heap for index blocks read from disk
/// @param directIo whether to write and read segments past the operating system's cache; a disk
///   without direct I/O then refuses to open
/// @param durability how commits become durable
/// @param transactions the limits of open write transactions
public record DeviceConfig(
    int segmentBytes,
    int fillAheadBytes,
    int memtableBytesMax,
    int cacheBytesMax,
    DirectIo directIo,
    Durability durability,
    TransactionLimits transactions) {
  private static final int LEAST = 4 << 10;

  // A segment is at most this fraction of its disk, unless that would be too small.
  private static final int PARTS = 32;

  private static final int PART_BYTES_LEAST = 256 << 10;

  public DeviceConfig {
    atLeast("segmentBytes", segmentBytes, LEAST);
    atLeast("fillAheadBytes", fillAheadBytes, 0);
    atLeast("memtableBytesMax", memtableBytesMax, LEAST);
    atLeast("cacheBytesMax", cacheBytesMax, LEAST);
    if (durability == Durability.PROTECTED_CACHE && directIo == DirectIo.OFF) {
      throw new IllegalArgumentException(
          "durability is PROTECTED_CACHE and directIo is OFF: commits would stay in the operating system's cache, which a power loss empties; set directIo ON first");
    }
  }

  /// Creates a layout with segments in the operating system's cache.
  public DeviceConfig(
      int segmentBytes, int fillAheadBytes, int memtableBytesMax, int cacheBytesMax) {
    this(
        segmentBytes,
        fillAheadBytes,
        memtableBytesMax,
        cacheBytesMax,
        DirectIo.OFF,
        Durability.SYNCED,
        TransactionLimits.standard());
  }

  /// Creates the standard layout with another segment size.
  public DeviceConfig(int segmentBytes) {
    this(segmentBytes, 1 << 20, 8 << 20, 16 << 20);
  }

  /// Returns the standard layout.
  public static DeviceConfig standard() {
    return new DeviceConfig(64 << 20);
  }

  /// Returns this layout with another [#fillAheadBytes()].
  public DeviceConfig withFillAheadBytes(int value) {
    return with(segmentBytes, value, memtableBytesMax, cacheBytesMax, directIo);
  }

  /// Returns this layout with another [#memtableBytesMax()].
  public DeviceConfig withMemtableBytesMax(int value) {
    return with(segmentBytes, fillAheadBytes, value, cacheBytesMax, directIo);
  }

  /// Returns this layout with another [#cacheBytesMax()].
  public DeviceConfig withCacheBytesMax(int value) {
    return with(segmentBytes, fillAheadBytes, memtableBytesMax, value, directIo);
  }

  /// Returns this layout with another [#directIo()].
  public DeviceConfig withDirectIo(DirectIo value) {
    return with(segmentBytes, fillAheadBytes, memtableBytesMax, cacheBytesMax, value);
  }

  private DeviceConfig with(int segment, int fillAhead, int memtable, int cache, DirectIo direct) {
    return new DeviceConfig(segment, fillAhead, memtable, cache, direct, durability, transactions);
  }

  /// Returns this layout with another [#durability()].
  public DeviceConfig withDurability(Durability value) {
    return new DeviceConfig(
        segmentBytes,
        fillAheadBytes,
        memtableBytesMax,
        cacheBytesMax,
        directIo,
        value,
        transactions);
  }

  /// Returns this layout with another [#transactions()].
  public DeviceConfig withTransactions(TransactionLimits value) {
    return new DeviceConfig(
        segmentBytes, fillAheadBytes, memtableBytesMax, cacheBytesMax, directIo, durability, value);
  }

  /// Returns this layout with segments, and tables of the index, that are small compared with a
  /// disk: maintenance needs room for one of each.
  ///
  /// @param diskBytes the most bytes that the disk may ever have
  public DeviceConfig fitting(long diskBytes) {
    long share = Math.max(PART_BYTES_LEAST, diskBytes / PARTS & -PART_BYTES_LEAST);
    return new DeviceConfig(
        (int) Math.min(segmentBytes, share),
        fillAheadBytes,
        (int) Math.min(memtableBytesMax, share),
        cacheBytesMax,
        directIo,
        durability,
        transactions.fitting(diskBytes));
  }

  private static void atLeast(String name, int value, int least) {
    if (value < least) {
      throw new IllegalArgumentException(name + " is " + value + "; the least is " + least);
    }
  }
}
