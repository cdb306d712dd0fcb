package stoa.sim.scenario;

import stoa.sim.world.PoweredDisk;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;
import stoa.storage.disk.ForwardingDisk;
import stoa.storage.disk.ForwardingFile;
import stoa.storage.disk.SimulatedDisk;

/// A disk whose files say that they are synced and are not.
final class LyingDisk extends ForwardingDisk {
  LyingDisk(Disk disk) {
    super(disk);
  }

  @Override
  protected DiskFile wrap(DiskFile file) {
    return new ForwardingFile(file) {
      @Override
      public void sync() {}
    };
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
}
