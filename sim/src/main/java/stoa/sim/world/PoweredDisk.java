package stoa.sim.world;

import java.nio.file.Path;
import stoa.sim.Chance;
import stoa.storage.disk.Disk;
import stoa.storage.disk.FileDisk;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.disk.SimulatedDisk;

/// A disk whose user can die at any moment.
///
/// One owner.
public interface PoweredDisk {
  /// Returns the present disk.
  Disk disk();

  /// Ends the process that uses the disk; afterwards [#disk] returns a disk with the surviving
  /// data.
  void fail();

  /// Stops the disk's own failures.
  default void calm() {}

  /// Returns a disk that loses power: synced data survives, and of the rest each sector may or may
  /// not. Now and then a write or a sync fails instead.
  ///
  /// @param changesMean the mean number of changes after which it fails by itself, in the middle of
  ///   one; 0 for never
  static PoweredDisk simulated(Chance chance, int changesMean) {
    return new PoweredDisk() {
      private SimulatedDisk disk = new SimulatedDisk(chance.any());
      private boolean calm = changesMean == 0;

      {
        arm();
      }

      private void arm() {
        if (calm) return;
        int when = chance.below(2 * changesMean);
        switch (chance.below(5)) {
          case 0 -> disk.failSync(when / 2);
          case 1 -> disk.failWrite(when / 2);
          default -> disk.losePowerAfter(when);
        }
      }

      @Override
      public SimulatedDisk disk() {
        return disk;
      }

      @Override
      public void fail() {
        disk = disk.crash();
        arm();
      }

      @Override
      public void calm() {
        calm = true;
        disk.losePowerAfter(Integer.MAX_VALUE / 2);
        disk.failSync(Integer.MAX_VALUE / 2);
        disk.failWrite(Integer.MAX_VALUE / 2);
      }
    };
  }

  /// Returns a disk in memory. Written data survives, synced or not, as it does when a process is
  /// killed.
  static PoweredDisk memory(long bytesMax) {
    return surviving(new MemoryDisk(bytesMax));
  }

  /// Returns the files of a directory as a disk. Written data survives, synced or not, as it does
  /// when a process is killed.
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
