package stoa.storage.segment;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.DiskFile;

/// One file of the log, with the log positions it has. Its file is opened and closed by
/// [SegmentFiles]; who appends says where it ends, and retires it.
public final class Segment {
  /// The end of a segment that is still appended to.
  public static final long OPEN_END = Long.MAX_VALUE;

  private final int number;
  private final long base;
  private final int headerBytes;
  private volatile long end;
  private volatile boolean retired;

  // For SegmentFiles: written under its lock.
  volatile @Nullable DiskFile file;
  volatile boolean used;
  final AtomicInteger closings = new AtomicInteger();

  public Segment(int number, long base, int headerBytes, long end) {
    this.number = number;
    this.base = base;
    this.headerBytes = headerBytes;
    this.end = end;
  }

  /// The number of the segment whose file has a name.
  public static int number(String name) {
    return Integer.parseInt(name.substring("segment-".length()));
  }

  /// Its number.
  public int number() {
    return number;
  }

  /// The name of its file.
  public String name() {
    return DeviceFiles.segment(number);
  }

  /// The log position of the file's first byte.
  public long base() {
    return base;
  }

  /// Where in the file the first record begins.
  public int headerBytes() {
    return headerBytes;
  }

  /// The log position behind the last record; [#OPEN_END] while it is appended to.
  public long end() {
    return end;
  }

  void endAt(long newEnd) {
    end = newEnd;
  }

  /// Whether the file is being deleted, or is.
  boolean retired() {
    return retired;
  }

  void retire() {
    retired = true;
  }
}
