package stoa.test;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;
import stoa.storage.disk.ForwardingDisk;
import stoa.storage.disk.ForwardingFile;

/// A disk whose operations meet the faults of a [StoaDisk]. Thread-safe.
final class FaultyDisk extends ForwardingDisk {
  private final StoaDisk faults;

  /// Makes a disk over the one that has the bytes.
  FaultyDisk(StoaDisk faults, Disk disk) {
    super(disk);
    this.faults = faults;
  }

  @Override
  protected DiskFile wrap(DiskFile file) {
    return new FaultyFile(faults, file);
  }

  @Override
  public List<String> list() throws IOException {
    faults.pass();
    return super.list();
  }

  @Override
  public DiskFile create(String name) throws IOException {
    faults.change();
    return super.create(name);
  }

  @Override
  public DiskFile open(String name) throws IOException {
    faults.pass();
    return super.open(name);
  }

  @Override
  public void delete(String name) throws IOException {
    faults.change();
    super.delete(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    faults.change();
    super.rename(from, to);
  }

  @Override
  public void syncDirectory() throws IOException {
    faults.change();
    super.syncDirectory();
  }

  @Override
  public String moreRoom() {
    return "call mend() on the disk of the test";
  }

  @Override
  public String place() {
    return "the disk of the test";
  }

  private static final class FaultyFile extends ForwardingFile {
    private final StoaDisk faults;

    FaultyFile(StoaDisk faults, DiskFile file) {
      super(file);
      this.faults = faults;
    }

    @Override
    public void write(long position, ByteBuffer source) throws IOException {
      faults.change();
      super.write(position, source);
    }

    @Override
    public void reserve(long from, long to) throws IOException {
      faults.pass();
      super.reserve(from, to);
    }

    @Override
    public int read(long position, ByteBuffer target) throws IOException {
      faults.pass();
      return super.read(position, target);
    }

    @Override
    public void sync() throws IOException {
      faults.change();
      super.sync();
    }
  }
}
