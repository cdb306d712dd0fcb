package stoa.storage.disk;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// The part of its disk that a device lets its users fill: all room except a reserve. The device
/// uses the reserve for the notes of deletions and trims, and to write live data again so that it
/// can give up segments. Thread-safe.
public final class Allowance {
  /*
   * To give up a segment, the device first writes its live data again, and the index. So the
   * reserve has room for the largest segment and as much again, and for a few small runs; but a
   * device that holds less needs less. A segment with a large record is larger than others.
   *
   * Asking a disk for its room may be a system call. So the device gives out a part of the room
   * found the last time before it asks again.
   */
  private static final int RESERVED_SEGMENTS = 2;
  private static final long RESERVED_BYTES_LEAST = 64 << 10;
  private static final long ASKED_BYTES_MAX = 1 << 20;

  // The divisor of the room kept back, for the overhead of records.
  private static final int GIVEN_SHARE = 8;

  /// The bytes that may be on a device, and those that are.
  ///
  /// @param used returns the bytes of its log and index
  private record Quota(long bytesMax, LongSupplier used) {}

  private final Disk disk;
  private final @Nullable Quota quota;
  private final int segmentBytes;
  private final LongSupplier held;
  private final LongSupplier largest;
  // The bytes that are left to be given out.
  private final AtomicLong known = new AtomicLong();

  /// @param held returns the bytes of the log
  /// @param largest returns the bytes of its largest segment
  public Allowance(Disk disk, DeviceConfig config, LongSupplier held, LongSupplier largest) {
    this(disk, null, config.segmentBytes(), held, largest);
  }

  private Allowance(
      Disk disk, @Nullable Quota quota, int segmentBytes, LongSupplier held, LongSupplier largest) {
    this.disk = disk;
    this.quota = quota;
    this.segmentBytes = segmentBytes;
    this.held = held;
    this.largest = largest;
  }

  /// Returns the part that users may fill when the device may have no more than some bytes.
  ///
  /// @param used returns the bytes of its log and index
  public Allowance within(long bytesMax, LongSupplier used) {
    return new Allowance(disk, new Quota(bytesMax, used), segmentBytes, held, largest);
  }

  /// Takes some bytes, if users may have as many.
  public boolean take(long bytes) {
    if (known.addAndGet(-bytes) >= 0) return true;
    long room = room();
    long spare = room == Long.MAX_VALUE ? room : room - reserve() - bytes;
    if (spare < 0) {
      known.set(0);
      return false;
    }
    known.set(Math.min(spare / GIVEN_SHARE, ASKED_BYTES_MAX));
    return true;
  }

  /// Returns whether users may have as many bytes; takes none.
  public boolean hasRoom(long bytes) {
    long room = room();
    return room == Long.MAX_VALUE || room - reserve() >= bytes;
  }

  /// Returns whether the index may write as many bytes in the place of others.
  public boolean hasRoomToMerge(long bytes) {
    long room = room();
    return room == Long.MAX_VALUE || room - reserve() / 2 >= bytes;
  }

  /// Returns how many bytes are reserved for making room.
  public long reserve() {
    long segments = RESERVED_SEGMENTS * Math.max(segmentBytes, largest.getAsLong());
    return Math.min(segments, held.getAsLong() / 2) + RESERVED_BYTES_LEAST;
  }

  /// Returns how many bytes the disk has left, with the reserve; with a quota, at most what that
  /// leaves.
  public long room() {
    long room = disk.room();
    Quota bound = quota;
    return bound == null ? room : Math.min(room, bound.bytesMax - bound.used.getAsLong());
  }

  /// Returns how many bytes the disk has left for writing live data again, whatever the quota.
  public long roomToMove() {
    return disk.room();
  }

  /// Returns the refusal of more room for users.
  public DiskFull full() {
    Quota bound = quota;
    return new DiskFull(
        "the device in %s holds %,d bytes that are needed, and keeps the last %,d bytes of room for deletions; %,d are left: delete or trim objects, or %s"
            .formatted(
                disk.place(),
                held.getAsLong(),
                reserve(),
                Math.max(0, room()),
                bound == null || disk.room() < room() + reserve()
                    ? disk.moreRoom()
                    : "raise its quota of %,d bytes (diskBytesMax, or disk= of ./stoa keep)"
                        .formatted(bound.bytesMax)));
  }
}
