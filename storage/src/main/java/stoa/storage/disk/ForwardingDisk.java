package stoa.storage.disk;

import java.io.IOException;
import java.util.List;

/// A disk that forwards each operation to another disk. A subclass overrides what it changes.
///
/// Thread-safe when the other disk and the subclass are.
public abstract class ForwardingDisk implements Disk {
  private final Disk disk;

  /// Makes a disk over another one.
  protected ForwardingDisk(Disk disk) {
    this.disk = disk;
  }

  /// Returns what this disk's user gets for a file of the other disk.
  protected abstract DiskFile wrap(DiskFile file);

  @Override
  public List<String> list() throws IOException {
    return disk.list();
  }

  @Override
  public DiskFile create(String name) throws IOException {
    return wrap(disk.create(name));
  }

  @Override
  public DiskFile open(String name) throws IOException {
    return wrap(disk.open(name));
  }

  @Override
  public DiskFile openDirect(String name) throws IOException {
    return wrap(disk.openDirect(name));
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
  public long room() {
    return disk.room();
  }

  @Override
  public long size() {
    return disk.size();
  }

  @Override
  public String moreRoom() {
    return disk.moreRoom();
  }

  @Override
  public boolean outlivesProcess() {
    return disk.outlivesProcess();
  }

  @Override
  public String place() {
    return disk.place();
  }

  @Override
  public void close() {
    disk.close();
  }
}
