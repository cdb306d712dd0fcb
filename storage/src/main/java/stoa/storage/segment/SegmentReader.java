package stoa.storage.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/// Reads one segment forward through a window of bounded size. One owner uses it.
public final class SegmentReader {
  private static final int WINDOW = 1 << 20;
  private static final byte[] ZEROS = new byte[WINDOW];

  private final SegmentFiles files;
  private final Segment segment;
  private final long limit;
  private final byte[] window;
  // The file position of window[0].
  private long start;
  private int filled;

  public SegmentReader(SegmentFiles files, Segment segment, long limit) {
    this.files = files;
    this.segment = segment;
    this.limit = limit;
    this.window = new byte[(int) Math.max(RecordFormat.RECORD_HEADER, Math.min(WINDOW, limit))];
  }

  /// Returns the file position at which reading ends.
  long limit() {
    return limit;
  }

  /// Returns the buffer of the positions that [#need] returns.
  public byte[] window() {
    return window;
  }

  /// Returns how many bytes of the file are in the window from an index on.
  public int filledFrom(int index) {
    return filled - index;
  }

  /// Brings `length` bytes, few, from a file position into the window and returns their index, or
  /// -1 when the file ends before.
  public int need(long at, int length) throws IOException {
    if (at + length > limit) return -1;
    if (at >= start && at + length <= start + filled) return (int) (at - start);
    int kept = at >= start && at < start + filled ? (int) (start + filled - at) : 0;
    System.arraycopy(window, filled - kept, window, 0, kept);
    start = at;
    filled = kept;
    int wanted = (int) Math.min(window.length, limit - at);
    while (filled < wanted) {
      var rest = ByteBuffer.wrap(window, filled, wanted - filled);
      int n = files.read(segment, start + filled, rest);
      if (n < 0) break;
      filled += n;
    }
    return filled >= length ? 0 : -1;
  }

  /// Adds the bytes from a file position to a checksum. Returns false when the file ends before.
  boolean update(CRC32C crc, long at, long length) throws IOException {
    long from = at;
    long rest = length;
    while (rest > 0) {
      int index = need(from, 1);
      if (index < 0) return false;
      int n = (int) Math.min(filled - index, rest);
      crc.update(window, index, n);
      from += n;
      rest -= n;
    }
    return true;
  }

  /// Returns a copy of existing bytes at a file position.
  byte[] copy(long at, int length) throws IOException {
    var copy = new byte[length];
    int done = 0;
    while (done < length) {
      int index = need(at + done, 1);
      if (index < 0) throw new IOException("the file ends at " + (at + done));
      int n = Math.min(filled - index, length - done);
      System.arraycopy(window, index, copy, done, n);
      done += n;
    }
    return copy;
  }

  /// Returns whether all bytes from a position to the limit are zero.
  boolean isZeroFrom(long from) throws IOException {
    long at = from;
    while (at < limit) {
      int index = need(at, 1);
      if (index < 0) return false;
      int length = filled - index;
      int other = Arrays.mismatch(window, index, index + length, ZEROS, 0, length);
      if (other >= 0) return false;
      at += length;
    }
    return true;
  }
}
