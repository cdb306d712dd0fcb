package stoa.storage.disk;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/// How much of its disk a device lets its users fill: what is there but for a reserve, in which
/// deletions and trims are noted, and what lives is written again so that segments can be given up.
/// Thread-safe.
public final class Allowance {
  /*
   * To give up a segment, what lives in it is written again first, and the index. So the reserve has
   * room for the largest segment and as much again, and for a few small runs; but a device that holds
   * less needs less. A segment with a large record is larger than others.
   *
   * Asking a disk for its room may be a system call. So a part of what there was at the last time is
   * given out before it is asked again.
   */
  private static final int RESERVED_SEGMENTS = 2;
  private static final long RESERVED_BYTES_LEAST = 64 << 10;
  private static final long ASKED_BYTES_MAX = 1 << 20;

  /// So much less than there is, for what a record takes beside itself.
  private static final int GIVEN_SHARE = 8;

  private final Disk disk;
  private final int segmentBytes;
  private final LongSupplier held;
  private final LongSupplier largest;
  private final AtomicLong known = new AtomicLong(); // to be given out

  /// @param held how many bytes the log holds
  /// @param largest how many bytes its largest segment has
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

  /// Whether users may have as many bytes; takes none.
  public boolean hasRoom(long bytes) {
    long room = disk.room();
    return room == Long.MAX_VALUE || room - reserve() >= bytes;
  }

  /// Whether as many bytes may be written of the index in the place of others.
  public boolean hasRoomToMerge(long bytes) {
    long room = disk.room();
    return room == Long.MAX_VALUE || room - reserve() / 2 >= bytes;
  }

  /// How many bytes are kept for what makes room.
  public long reserve() {
    long segments = RESERVED_SEGMENTS * Math.max(segmentBytes, largest.getAsLong());
    return Math.min(segments, held.getAsLong() / 2) + RESERVED_BYTES_LEAST;
  }

  /// How many bytes the disk has left, the reserve included.
  public long room() {
    return disk.room();
  }

  /// That users may have no more.
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
