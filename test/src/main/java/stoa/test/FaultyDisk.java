package stoa.test;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;

/// A disk whose operations meet the faults of a [StoaDisk]. Thread-safe.
///
/// @param faults the faults
/// @param disk has the bytes
record FaultyDisk(StoaDisk faults, Disk disk) implements Disk {
  @Override
  public List<String> list() throws IOException {
    faults.pass();
    return disk.list();
  }

  @Override
  public DiskFile create(String name) throws IOException {
    faults.change();
    return new FaultyFile(faults, disk.create(name));
  }

  @Override
  public DiskFile open(String name) throws IOException {
    faults.pass();
    return new FaultyFile(faults, disk.open(name));
  }

  @Override
  public void delete(String name) throws IOException {
    faults.change();
    disk.delete(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    faults.change();
    disk.rename(from, to);
  }

  @Override
  public void syncDirectory() throws IOException {
    faults.change();
    disk.syncDirectory();
  }

  @Override
  public Hold hold() throws IOException {
    return disk.hold();
  }

  @Override
  public long room() {
    return disk.room();
  }

  @Override
  public long size() {
    return disk.size();
  }

  @Override
  public String moreRoom() {
    return "call mend() on the disk of the test";
  }

  @Override
  public String place() {
    return "the disk of the test";
  }

  @Override
  public void close() {
    disk.close();
  }

  private record FaultyFile(StoaDisk faults, DiskFile file) implements DiskFile {
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
      faults.change();
      file.write(position, source);
    }

    @Override
    public void reserve(long from, long to) throws IOException {
      faults.pass();
      file.reserve(from, to);
    }

    @Override
    public void ensureRoom(long to) throws IOException {
      file.ensureRoom(to);
    }

    @Override
    public int read(long position, ByteBuffer target) throws IOException {
      faults.pass();
      return file.read(position, target);
    }

    @Override
    public void sync() throws IOException {
      faults.change();
      file.sync();
    }

    @Override
    public void close() {
      file.close();
    }
  }
}
