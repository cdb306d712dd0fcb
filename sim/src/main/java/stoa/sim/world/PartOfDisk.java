package stoa.sim.world;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;

/// A part of a disk that several devices share: they lose power at the same moment.
///
/// @param whole the disk
/// @param prefix the common prefix of the names of the part's files
record PartOfDisk(Disk whole, String prefix) implements Disk {
  @Override
  public List<String> list() throws IOException {
    return whole.list().stream()
        .filter(name -> name.startsWith(prefix))
        .map(name -> name.substring(prefix.length()))
        .toList();
  }

  @Override
  public DiskFile create(String name) throws IOException {
    return new Part(whole.create(prefix + name), name);
  }

  @Override
  public DiskFile open(String name) throws IOException {
    return new Part(whole.open(prefix + name), name);
  }

  @Override
  public DiskFile openDirect(String name) throws IOException {
    return new Part(whole.openDirect(prefix + name), name);
  }

  @Override
  public void delete(String name) throws IOException {
    whole.delete(prefix + name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    whole.rename(prefix + from, prefix + to);
  }

  @Override
  public void syncDirectory() throws IOException {
    whole.syncDirectory();
  }

  /// Returns an empty hold: one process has all parts, and the simulation ends it before it starts
  /// another.
  @Override
  public Hold hold() {
    return () -> {};
  }

  @Override
  public String place() {
    return whole.place() + " " + prefix;
  }

  @Override
  public void close() {}

  /// A file under its name in the part.
  private record Part(DiskFile file, String name) implements DiskFile {
    @Override
    public long size() throws IOException {
      return file.size();
    }

    @Override
    public void write(long position, ByteBuffer source) throws IOException {
      file.write(position, source);
    }

    @Override
    public void reserve(long from, long to) throws IOException {
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
