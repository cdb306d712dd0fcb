package stoa.sim;

import stoa.storage.Device;
import stoa.storage.DeviceConfig;

/// The storage device of one process that can die and be started again.
///
/// One owner.
final class PoweredDevice {
  private final PoweredDisk power;
  private final DeviceConfig config;
  private Device device;

  PoweredDevice(PoweredDisk power, DeviceConfig config) {
    this.power = power;
    this.config = config;
    device = Device.open(power.disk(), config);
  }

  Device device() {
    return device;
  }

  /// Ends the process and starts another one on what survived.
  Device restart() {
    power.fail();
    device.close();
    device = Device.open(power.disk(), config);
    return device;
  }
}
