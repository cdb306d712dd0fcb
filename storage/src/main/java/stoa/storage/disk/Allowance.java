package stoa.storage.disk;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

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

  private final Disk disk;
  private final int segmentBytes;
  private final LongSupplier held;
  private final LongSupplier largest;
  private final AtomicLong known = new AtomicLong(); // to be given out

  /// @param held returns the bytes of the log
  /// @param largest returns the bytes of its largest segment
  public Allowance(Disk disk, DeviceConfig config, LongSupplier held, LongSupplier largest) {
    this.disk = disk;
    this.segmentBytes = config.segmentBytes();
    this.held = held;
    this.largest = largest;
  }

  /// Takes some bytes, if users may have as many.
  public boolean take(long bytes) {
    if (known.addAndGet(-bytes) >= 0) return true;
    long room = disk.room();
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
    long room = disk.room();
    return room == Long.MAX_VALUE || room - reserve() >= bytes;
  }

  /// Returns whether the index may write as many bytes in the place of others.
  public boolean hasRoomToMerge(long bytes) {
    long room = disk.room();
    return room == Long.MAX_VALUE || room - reserve() / 2 >= bytes;
  }

  /// Returns how many bytes are reserved for making room.
  public long reserve() {
    long segments = RESERVED_SEGMENTS * Math.max(segmentBytes, largest.getAsLong());
    return Math.min(segments, held.getAsLong() / 2) + RESERVED_BYTES_LEAST;
  }

  /// Returns how many bytes the disk has left, with the reserve.
  public long room() {
    return disk.room();
  }

  /// Returns the refusal of more room for users.
  public DiskFull full() {
    return new DiskFull(
        "the device in %s holds %,d bytes that are needed, and keeps the last %,d bytes of room for deletions; %,d are left: delete or trim objects, or %s"
            .formatted(
                disk.place(),
                held.getAsLong(),
                reserve(),
                Math.max(0, disk.room()),
                disk.moreRoom()));
  }
}
