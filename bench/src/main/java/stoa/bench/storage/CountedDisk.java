package stoa.bench.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.LongAdder;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;
import stoa.storage.disk.ForwardingDisk;
import stoa.storage.disk.ForwardingFile;

/// A disk that counts the written bytes. Reserving counts as writing, since it may fill a file with
/// zeros.
///
/// Thread-safe.
final class CountedDisk extends ForwardingDisk {
  private final LongAdder written = new LongAdder();

  CountedDisk(Disk disk) {
    super(disk);
  }

  /// Returns the bytes written so far.
  long written() {
    return written.sum();
  }

  @Override
  protected DiskFile wrap(DiskFile file) {
    return new ForwardingFile(file) {
      @Override
      public void write(long position, ByteBuffer source) throws IOException {
        written.add(source.remaining());
        super.write(position, source);
      }

      @Override
      public void reserve(long from, long to) throws IOException {
        written.add(to - from);
        super.reserve(from, to);
      }
    };
  }
}
