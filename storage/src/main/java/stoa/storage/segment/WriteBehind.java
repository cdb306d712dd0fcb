package stoa.storage.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import stoa.storage.disk.BufferPool;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;
import stoa.storage.disk.DiskFull;

/// A ring of direct memory between the appending thread and those that wait for a sync: a thread
/// that needs the bytes written writes them, while the appending thread puts in more. So a disk
/// with writes past the operating system's cache need not wait for copies in memory.
///
/// One thread puts; any may call [#writeUpTo].
final class WriteBehind implements Staging {
  /*
   * Counts run on and are places in the ring modulo its size. written <= published <= filled <=
   * written + BYTES_MAX. Bytes below `published` do not change until they are written, and begin
   * and end at multiples of Disk.DIRECT_ALIGNMENT. `file`, its `base` and `shift` (log position
   * less count) change only while all bytes are written; so written + shift only grows.
   */
  static final int BYTES_MAX = 16 << 20;
  private static final int WRITE_BYTES_MAX = 4 << 20;

  private final ByteBuffer ring = BufferPool.allocate(BYTES_MAX);
  private final SingleFlight writing = new SingleFlight();
  private volatile DiskFile file;
  private volatile long base;
  private volatile long shift;
  private volatile long published;
  private volatile long written; // changed in writing turns
  private long filled; // the putting thread's
  private int taken; // the putting thread's: the beginning of its window in the ring

  WriteBehind(DiskFile file) {
    this.file = file;
  }

  @Override
  public ByteBuffer begin(DiskFile newFile, long newBase, long position, long length)
      throws IOException {
    if (position - filled != shift) {
      writeUpTo(published + shift);
      file = newFile;
      base = newBase;
      shift = position - filled;
    }
    return window();
  }

  /// Returns the free part of the ring, up to its end.
  private ByteBuffer window() throws IOException {
    if (filled - written == BYTES_MAX) writeUpTo(written + shift + 1);
    taken = (int) (filled % BYTES_MAX);
    int free = (int) Math.min(BYTES_MAX - taken, written + BYTES_MAX - filled);
    return ring.slice(taken, Math.min(free, WRITE_BYTES_MAX));
  }

  @Override
  public ByteBuffer more(ByteBuffer full) throws IOException {
    end(full);
    return window();
  }

  @Override
  public void end(ByteBuffer last) {
    filled += last.position();
    published = filled & -Disk.DIRECT_ALIGNMENT;
  }

  /// Returns the log position up to which the bytes are written.
  long writtenTo() {
    return written + shift;
  }

  /// Returns when all bytes put in before are written up to a log position.
  void writeUpTo(long position) throws IOException {
    writing.until(() -> writtenTo() >= position || published == written, this::writeSome);
  }

  private void writeSome() throws IOException {
    long from = written;
    int at = (int) (from % BYTES_MAX);
    int n = (int) Math.min(WRITE_BYTES_MAX, Math.min(BYTES_MAX - at, published - from));
    try {
      file.write(from + shift - base, ring.slice(at, n));
    } catch (DiskFull e) {
      throw new IOException("the disk became full within a commit", e);
    }
    written = from + n;
  }
}
