package stoa.bench.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;

/// A disk that counts the written bytes. Reserving counts as writing, since it may fill a file with
/// zeros.
///
/// Thread-safe.
final class CountedDisk implements Disk {
  private final Disk disk;
  private final LongAdder written = new LongAdder();

  CountedDisk(Disk disk) {
    this.disk = disk;
  }

  /// Returns the bytes written so far.
  long written() {
    return written.sum();
  }

  @Override
  public List<String> list() throws IOException {
    return disk.list();
  }

  @Override
  public DiskFile create(String name) throws IOException {
    return new CountedFile(disk.create(name));
  }

  @Override
  public DiskFile open(String name) throws IOException {
    return new CountedFile(disk.open(name));
  }

  @Override
  public DiskFile openDirect(String name) throws IOException {
    return new CountedFile(disk.openDirect(name));
  }

  @Override
  public void delete(String name) throws IOException {
    disk.delete(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    disk.rename(from, to);
  }

  @Override
  public void syncDirectory() throws IOException {
    disk.syncDirectory();
  }

  @Override
  public Hold hold() throws IOException {
    return disk.hold();
  }

  @Override
  public String place() {
    return disk.place();
  }

  @Override
  public void close() {
    disk.close();
  }

  private final class CountedFile implements DiskFile {
    private final DiskFile file;

    CountedFile(DiskFile file) {
      this.file = file;
    }

    @Override
    public String name() {
      return file.name();
    }

    @Override
    public long size() throws IOException {
      return file.size();
    }

    @Override
    public void write(long position, ByteBuffer source) throws IOException {
      written.add(source.remaining());
      file.write(position, source);
    }

    @Override
    public void reserve(long from, long to) throws IOException {
      written.add(to - from);
      file.reserve(from, to);
    }

    @Override
    public void ensureRoom(long to) throws IOException {
      file.ensureRoom(to);
    }

    @Override
    public int read(long position, ByteBuffer target) throws IOException {
      return file.read(position, target);
    }

    @Override
    public void sync() throws IOException {
      file.sync();
    }

    @Override
    public void close() {
      file.close();
    }
  }
}
