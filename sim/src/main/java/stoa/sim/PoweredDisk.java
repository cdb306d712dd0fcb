package stoa.sim;

import java.nio.file.Path;
import stoa.storage.Disk;
import stoa.storage.FileDisk;
import stoa.storage.MemoryDisk;

/// A disk whose user can die at any moment.
///
/// One owner.
public interface PoweredDisk {
  /// The disk as it is now.
  Disk disk();

  /// Ends the life of whoever uses the disk; afterwards [#disk] answers one with what survived.
  void fail();

  /// A disk in memory. What was written survives, synced or not, as it does when a process is
  /// killed.
  static PoweredDisk memory(long bytesMax) {
    return surviving(new MemoryDisk(bytesMax));
  }

  /// The files of a directory. What was written survives, synced or not, as it does when a process
  /// is killed.
  static PoweredDisk files(Path directory) {
    return surviving(new FileDisk(directory));
  }

  private static PoweredDisk surviving(Disk disk) {
    return new PoweredDisk() {
      @Override
      public Disk disk() {
        return disk;
      }

      @Override
      public void fail() {}
    };
  }
}
