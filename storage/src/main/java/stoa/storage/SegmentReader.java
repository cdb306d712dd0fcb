package stoa.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/// Reads one segment forward through a window, for recovery. One owner uses it.
final class SegmentReader {
  private static final int WINDOW = 1 << 20;

  private final DiskFile file;
  private final long limit;
  private byte[] window;
  private long start; // the file position of window[0]
  private int filled;

  SegmentReader(DiskFile file, long limit) {
    this.file = file;
    this.limit = limit;
    this.window = new byte[(int) Math.min(WINDOW, limit)];
  }

  /// The buffer in which [#need] answers positions; another one after each call.
  byte[] window() {
    return window;
  }

  /// Brings `length` bytes from a file position into the window and answers where they are, or -1
  /// when the file ends before.
  int need(long at, int length) throws IOException {
    if (at + length > limit) return -1;
    if (at >= start && at + length <= start + filled) return (int) (at - start);
    int kept = at >= start && at < start + filled ? (int) (start + filled - at) : 0;
    byte[] target = length > window.length ? new byte[Math.max(length, WINDOW)] : window;
    System.arraycopy(window, filled - kept, target, 0, kept);
    window = target;
    start = at;
    filled = kept;
    int wanted = (int) Math.min(window.length, limit - at);
    while (filled < wanted) {
      int n = file.read(start + filled, ByteBuffer.wrap(window, filled, wanted - filled));
      if (n < 0) break;
      filled += n;
    }
    return filled >= length ? 0 : -1;
  }

  /// Whether all bytes from a position to the limit are zero.
  boolean isZeroFrom(long from) throws IOException {
    long at = from;
    while (at < limit) {
      int length = (int) Math.min(WINDOW, limit - at);
      int index = need(at, length);
      if (index < 0) return false;
      int zero = Arrays.mismatch(window, index, index + length, ZEROS, 0, length);
      if (zero >= 0) return false;
      at += length;
    }
    return true;
  }

  private static final byte[] ZEROS = new byte[WINDOW];
}
