package stoa.cli;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.TreeMap;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;

/// The files that a backup has of a group, as a disk that cannot be written. Thread-safe.
final class BackupFiles implements Disk {
  private final Path directory;
  private final TreeMap<String, Long> bytes = new TreeMap<>();

  /// @param directory of the files
  /// @param files which of them, and how much of each
  BackupFiles(Path directory, List<BackupPoint.Segment> files) {
    this.directory = directory;
    for (BackupPoint.Segment file : files) {
      bytes.put(DeviceFiles.segment(file.number()), file.bytes());
    }
  }

  @Override
  public List<String> list() {
    return List.copyOf(bytes.keySet());
  }

  @Override
  public DiskFile open(String name) throws IOException {
    Long size = bytes.get(name);
    if (size == null) throw new IOException(directory + " has no " + name);
    return new File(name, size, FileChannel.open(directory.resolve(name), StandardOpenOption.READ));
  }

  /// A file, of which the first bytes count.
  private record File(String name, long size, FileChannel channel) implements DiskFile {
    @Override
    public int read(long position, ByteBuffer target) throws IOException {
      long left = size - position;
      if (left <= 0) return -1;
      if (target.remaining() <= left) return channel.read(target, position);
      ByteBuffer part = target.slice(target.position(), (int) left);
      int n = channel.read(part, position);
      if (n > 0) target.position(target.position() + n);
      return n;
    }

    @Override
    public void write(long position, ByteBuffer source) throws IOException {
      throw readOnly(name);
    }

    @Override
    public void reserve(long from, long to) throws IOException {
      throw readOnly(name);
    }

    @Override
    public void sync() throws IOException {
      throw readOnly(name);
    }

    @Override
    public void close() {
      try {
        channel.close();
      } catch (IOException unread) {
        // Nothing was written.
      }
    }
  }

  private static IOException readOnly(String name) {
    return new IOException(name + " is of a backup, which is only read");
  }

  @Override
  public DiskFile create(String name) throws IOException {
    throw readOnly(name);
  }

  @Override
  public void delete(String name) throws IOException {
    throw readOnly(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    throw readOnly(from);
  }

  @Override
  public void syncDirectory() {}

  @Override
  public Hold hold() {
    return () -> {};
  }

  @Override
  public String place() {
    return directory.toString();
  }

  @Override
  public void close() {}
}
