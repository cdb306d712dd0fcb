package stoa.storage.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import stoa.storage.disk.Buffers;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;
import stoa.storage.disk.DiskFull;

/// A ring of direct memory between the thread that appends and those that wait for a sync: what was
/// put in is written by whoever needs it written, while more is put in behind it. So a disk that is
/// written past the operating system's cache need not wait for memory to be copied.
///
/// One thread puts; any may call [#writeUpTo].
final class WriteBehind implements Staging {
  /*
   * Counts run on and are places in the ring modulo its size. written <= published <= filled <= written
   * + BYTES_MAX. What is below `published` is not changed until it is written, and begins and ends at
   * multiples of Disk.DIRECT_ALIGNMENT. `file`, its `base` and `shift` (log position less count) change
   * only while all is written; so written + shift only grows.
   */
  static final int BYTES_MAX = 16 << 20;
  private static final int WRITE_BYTES_MAX = 4 << 20;

  private final ByteBuffer ring = Buffers.allocate(BYTES_MAX);
  private final SingleFlight writing = new SingleFlight();
  private volatile DiskFile file;
  private volatile long base;
  private volatile long shift;
  private volatile long published;
  private volatile long written; // changed in writing turns
  private long filled; // the putting thread's
  private int taken; // the putting thread's: where its window began in the ring

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

  /// The part of the ring that is free now, up to its end.
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

  /// The log position up to which what was put in has been written.
  long writtenTo() {
    return written + shift;
  }

  /// Returns when everything up to a log position, which was put in before, is written.
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
