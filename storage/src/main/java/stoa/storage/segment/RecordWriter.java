package stoa.storage.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import stoa.storage.disk.DiskFile;

/// Puts records back to back into the direct memory of a [Staging]. The appending thread owns it.
final class RecordWriter implements Commit.Sink {
  private final Staging staging;
  private ByteBuffer window = ByteBuffer.allocate(0);

  RecordWriter(Staging staging) {
    this.staging = staging;
  }

  /// Writes sealed records at a log position, and zeros after them up to `length` bytes.
  ///
  /// @param base the log position of the file's first byte
  void write(DiskFile file, long base, long position, long length, List<Commit> commits)
      throws IOException {
    window = staging.begin(file, base, position, length);
    long rest = length;
    for (var commit : commits) {
      commit.writeTo(this);
      long padded = RecordFormat.padded(commit.bytes());
      pad(padded - commit.bytes());
      rest -= padded;
    }
    pad(rest);
    staging.end(window);
  }

  private void makeRoom() throws IOException {
    if (!window.hasRemaining()) window = staging.more(window);
  }

  private void pad(long bytes) throws IOException {
    for (long i = 0; i < bytes; i++) {
      makeRoom();
      window.put((byte) 0);
    }
  }

  @Override
  public void put(byte[] source, int from, int length) throws IOException {
    int done = 0;
    while (done < length) {
      makeRoom();
      int n = Math.min(window.remaining(), length - done);
      window.put(source, from + done, n);
      done += n;
    }
  }

  @Override
  public void put(ByteBuffer source) throws IOException {
    while (source.hasRemaining()) {
      makeRoom();
      int n = Math.min(window.remaining(), source.remaining());
      window.put(window.position(), source, source.position(), n);
      window.position(window.position() + n);
      source.position(source.position() + n);
    }
  }

  @Override
  public void put(int value) throws IOException {
    if (window.remaining() >= 4) {
      window.putInt(value);
      return;
    }
    for (int shift = 24; shift >= 0; shift -= 8) {
      makeRoom();
      window.put((byte) (value >>> shift));
    }
  }
}
