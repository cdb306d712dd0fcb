package stoa.sim.world;

import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFailed;
import stoa.storage.disk.ReadFailed;

/// The storage device of one process that can die and restart.
///
/// One owner.
public final class PoweredDevice {
  /// Sizes so small that a short run fills segments, and writes and merges indexes.
  public static final DeviceConfig SMALL = new DeviceConfig(64 << 10, 4 << 10, 4 << 10, 8 << 10);

  // The number of power failures while the device recovers.
  private static final int ATTEMPTS_MAX = 100;

  private final PoweredDisk power;
  private final DeviceConfig config;
  private Device device;

  public PoweredDevice(PoweredDisk power, DeviceConfig config) {
    this.power = power;
    this.config = config;
    device = open();
  }

  private Device open() {
    // The calling thread runs background work, so that every run of a seed is the same.
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      try {
        return Device.open(power.disk(), config, Runnable::run);
      } catch (DeviceFailed | ReadFailed powerLost) {
        power.fail();
      }
    }
    return Device.open(power.disk(), config, Runnable::run);
  }

  public Device device() {
    return device;
  }

  /// Ends the process and starts another one on the surviving data.
  public Device restart() {
    power.fail();
    device.close();
    device = open();
    return device;
  }

  /// Returns a digest of the names and bytes of all files, in hexadecimal.
  public String diskDigest() {
    return DiskDigest.of(power.disk());
  }

  /// Stops the disk's own failures.
  public void calm() {
    power.calm();
  }
}
