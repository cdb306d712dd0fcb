package stoa.storage;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// One file of the log, with the log positions it has. Its file is opened and closed by
/// [SegmentFiles]; who appends says where it ends, and retires it.
final class Segment {
  private static final Pattern NAME = Pattern.compile("segment-(\\d{8})");

  /// The end of a segment that is still appended to.
  static final long OPEN_END = Long.MAX_VALUE;

  private final int number;
  private final long base;
  private final int headerBytes;
  private volatile long end;
  private volatile boolean retired;

  // For SegmentFiles: written under its lock.
  volatile @Nullable DiskFile file;
  volatile boolean used;
  final AtomicInteger closings = new AtomicInteger();

  Segment(int number, long base, int headerBytes, long end) {
    this.number = number;
    this.base = base;
    this.headerBytes = headerBytes;
    this.end = end;
  }

  static String name(int number) {
    return "segment-%08d".formatted(number);
  }

  static boolean isName(String name) {
    return NAME.matcher(name).matches();
  }

  static int number(String name) {
    return Integer.parseInt(name.substring("segment-".length()));
  }

  int number() {
    return number;
  }

  String name() {
    return name(number);
  }

  /// The log position of the file's first byte.
  long base() {
    return base;
  }

  /// Where in the file the first record begins.
  int headerBytes() {
    return headerBytes;
  }

  /// The log position behind the last record; [#OPEN_END] while it is appended to.
  long end() {
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
