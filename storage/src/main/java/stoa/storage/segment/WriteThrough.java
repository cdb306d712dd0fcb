package stoa.storage.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import stoa.storage.disk.BufferPool;
import stoa.storage.disk.DiskFile;
import stoa.storage.disk.DiskFull;
import stoa.storage.disk.TornWrite;

/// A staging buffer that it writes whenever it is full, and at the end. The appending thread owns
/// it.
final class WriteThrough implements Staging {
  static final int BYTES_MAX = 1 << 20;
  private static final int BYTES_LEAST = 64 << 10;

  private ByteBuffer buffer = ByteBuffer.allocate(0);
  private DiskFile file;
  private long start;
  private long at;

  WriteThrough(DiskFile file) {
    this.file = file;
  }

  /// Begins the writes of some bytes, which throw [DiskFull] when not one of them was written.
  @Override
  public ByteBuffer begin(DiskFile newFile, long base, long position, long length) {
    file = newFile;
    start = position - base;
    at = start;
    if (buffer.capacity() < Math.min(length, BYTES_MAX)) {
      int bytes = BYTES_LEAST;
      while (bytes < length && bytes < BYTES_MAX) bytes *= 2;
      buffer = BufferPool.allocate(bytes);
    }
    return buffer.clear();
  }

  @Override
  public ByteBuffer more(ByteBuffer full) throws IOException {
    int n = full.flip().remaining();
    try {
      file.write(at, full);
    } catch (DiskFull e) {
      if (at == start) throw e;
      throw new TornWrite(file.name(), e);
    }
    at += n;
    return full.clear();
  }

  @Override
  public void end(ByteBuffer last) throws IOException {
    if (last.position() > 0) more(last);
  }
}
