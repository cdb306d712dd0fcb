package stoa.sim.world;

import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFailed;
import stoa.storage.disk.ReadFailed;

/// The storage device of one process that can die and be started again.
///
/// One owner.
public final class PoweredDevice {
  // How often the power may fail while the device recovers.
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
    // Background work runs where it is asked for, so that the same run does the same.
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

  /// Ends the process and starts another one on what survived.
  public Device restart() {
    power.fail();
    device.close();
    device = open();
    return device;
  }

  /// A digest of the names and bytes of all files, in hexadecimal.
  public String diskDigest() {
    return DiskDigest.of(power.disk());
  }

  /// Makes the disk fail no more by itself.
  public void calm() {
    power.calm();
  }
}
