package stoa.storage.segment;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.DiskFile;

/// One file of the log, with the log positions it has. [SegmentFiles] opens and closes its file;
/// the appending thread sets its end, and retires it.
public final class Segment {
  /// The end of the segment that takes appends.
  public static final long OPEN_END = Long.MAX_VALUE;

  private final int number;
  private final long base;
  private final int headerBytes;
  private volatile long end;
  private volatile boolean retired;

  // For SegmentFiles, which writes it under its lock.
  volatile @Nullable DiskFile file;
  volatile boolean used;
  final AtomicInteger closings = new AtomicInteger();

  public Segment(int number, long base, int headerBytes, long end) {
    this.number = number;
    this.base = base;
    this.headerBytes = headerBytes;
    this.end = end;
  }

  /// Returns the number of the segment whose file has a name.
  public static int number(String name) {
    return Integer.parseInt(name.substring("segment-".length()));
  }

  /// Returns its number.
  public int number() {
    return number;
  }

  /// Returns the name of its file.
  public String name() {
    return DeviceFiles.segment(number);
  }

  /// Returns the log position of the file's first byte.
  public long base() {
    return base;
  }

  /// Returns the place of the first record in the file.
  public int headerBytes() {
    return headerBytes;
  }

  /// Returns the log position after the last record; [#OPEN_END] while it takes appends.
  public long end() {
    return end;
  }

  void endAt(long newEnd) {
    end = newEnd;
  }

  /// Returns whether its file is deleted, or about to be.
  boolean retired() {
    return retired;
  }

  void retire() {
    retired = true;
  }
}
