package stoa.sim.world;

import java.io.IOException;
import java.util.List;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;
import stoa.storage.disk.ForwardingDisk;
import stoa.storage.disk.ForwardingFile;

/// A part of a disk that several devices share: they lose power at the same moment. Thread-safe.
final class PartOfDisk extends ForwardingDisk {
  private final String prefix;

  /// Makes the part of a disk whose files' names have a common prefix.
  PartOfDisk(Disk whole, String prefix) {
    super(whole);
    this.prefix = prefix;
  }

  @Override
  protected DiskFile wrap(DiskFile file) {
    return new ForwardingFile(file) {
      @Override
      public String name() {
        return super.name().substring(prefix.length());
      }
    };
  }

  @Override
  public List<String> list() throws IOException {
    return super.list().stream()
        .filter(name -> name.startsWith(prefix))
        .map(name -> name.substring(prefix.length()))
        .toList();
  }

  @Override
  public DiskFile create(String name) throws IOException {
    return super.create(prefix + name);
  }

  @Override
  public DiskFile open(String name) throws IOException {
    return super.open(prefix + name);
  }

  @Override
  public DiskFile openDirect(String name) throws IOException {
    return super.openDirect(prefix + name);
  }

  @Override
  public void delete(String name) throws IOException {
    super.delete(prefix + name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    super.rename(prefix + from, prefix + to);
  }

  /// Returns an empty hold: one process has all parts, and the simulation ends it before it starts
  /// another.
  @Override
  public Hold hold() {
    return () -> {};
  }

  @Override
  public String place() {
    return super.place() + " " + prefix;
  }

  /// Leaves the disk open for the other parts.
  @Override
  public void close() {}
}
