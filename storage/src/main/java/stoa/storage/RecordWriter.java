package stoa.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/// Writes records back to back into a segment, in few and large writes, through one buffer that it
/// keeps. The appending thread's.
final class RecordWriter implements Commit.Sink {
  static final int STAGING_BYTES_MAX = 1 << 20;
  private static final int STAGING_BYTES_LEAST = 64 << 10;

  private ByteBuffer staging = ByteBuffer.allocate(0);
  private DiskFile file;
  private long at;

  RecordWriter(DiskFile file) {
    this.file = file;
  }

  /// Writes sealed records at a file position, and zeros behind them up to `length` bytes. Throws
  /// [DiskFull] when not a byte was written.
  void write(DiskFile target, long position, long length, List<Commit> commits) throws IOException {
    makeRoom(length);
    file = target;
    at = position;
    try {
      for (var commit : commits) {
        commit.writeTo(this);
        pad(RecordFormat.padded(commit.bytes()) - commit.bytes());
      }
      pad(position + length - at - staging.position());
      flush();
    } catch (DiskFull e) {
      if (at == position) throw e;
      throw new IOException("the disk became full within a commit", e);
    } finally {
      staging.clear();
    }
  }

  private void makeRoom(long length) {
    if (staging.capacity() >= Math.min(length, STAGING_BYTES_MAX)) return;
    int bytes = STAGING_BYTES_LEAST;
    while (bytes < length && bytes < STAGING_BYTES_MAX) bytes *= 2;
    staging =
        ByteBuffer.allocateDirect(bytes + Disk.DIRECT_ALIGNMENT)
            .alignedSlice(Disk.DIRECT_ALIGNMENT)
            .limit(bytes)
            .slice();
  }

  private void flush() throws IOException {
    int n = staging.flip().remaining();
    if (n > 0) file.write(at, staging);
    at += n;
    staging.clear();
  }

  private void pad(long bytes) throws IOException {
    for (long i = 0; i < bytes; i++) {
      if (!staging.hasRemaining()) flush();
      staging.put((byte) 0);
    }
  }

  @Override
  public void put(byte[] source, int from, int length) throws IOException {
    int done = 0;
    while (done < length) {
      if (!staging.hasRemaining()) flush();
      int n = Math.min(staging.remaining(), length - done);
      staging.put(source, from + done, n);
      done += n;
    }
  }

  @Override
  public void put(ByteBuffer source) throws IOException {
    while (source.hasRemaining()) {
      if (!staging.hasRemaining()) flush();
      int n = Math.min(staging.remaining(), source.remaining());
      staging.put(staging.position(), source, source.position(), n);
      staging.position(staging.position() + n);
      source.position(source.position() + n);
    }
  }

  @Override
  public void put(int value) throws IOException {
    if (staging.remaining() >= 4) {
      staging.putInt(value);
      return;
    }
    for (int shift = 24; shift >= 0; shift -= 8) {
      if (!staging.hasRemaining()) flush();
      staging.put((byte) (value >>> shift));
    }
  }
}
