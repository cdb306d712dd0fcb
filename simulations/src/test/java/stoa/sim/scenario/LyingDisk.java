package stoa.sim.scenario;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import stoa.sim.world.PoweredDisk;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;
import stoa.storage.disk.SimulatedDisk;

/// A disk whose files say that they are synced and are not.
record LyingDisk(SimulatedDisk disk) implements Disk {
  @Override
  public List<String> list() throws IOException {
    return disk.list();
  }

  @Override
  public DiskFile create(String name) throws IOException {
    return new LyingFile(disk.create(name));
  }

  @Override
  public DiskFile open(String name) throws IOException {
    return new LyingFile(disk.open(name));
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
  public Hold hold() {
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

  /// Such a disk, of which the power can fail.
  static PoweredDisk powered(long seed) {
    return new PoweredDisk() {
      private SimulatedDisk disk = new SimulatedDisk(seed);

      @Override
      public Disk disk() {
        return new LyingDisk(disk);
      }

      @Override
      public void fail() {
        disk = disk.crash();
      }
    };
  }

  private record LyingFile(DiskFile file) implements DiskFile {
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
      file.write(position, source);
    }

    @Override
    public void reserve(long from, long to) throws IOException {
      file.reserve(from, to);
    }

    @Override
    public int read(long position, ByteBuffer target) throws IOException {
      return file.read(position, target);
    }

    @Override
    public void sync() {}

    @Override
    public void close() {
      file.close();
    }
  }
}
