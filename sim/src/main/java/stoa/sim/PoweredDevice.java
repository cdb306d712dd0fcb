package stoa.sim;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import stoa.storage.Device;
import stoa.storage.DeviceConfig;
import stoa.storage.DeviceFailed;
import stoa.storage.Disk;
import stoa.storage.DiskFile;
import stoa.storage.ReadFailed;

/// The storage device of one process that can die and be started again.
///
/// One owner.
final class PoweredDevice {
  /* How often the power may fail while the device recovers. */
  private static final int ATTEMPTS_MAX = 100;

  private final PoweredDisk power;
  private final DeviceConfig config;
  private Device device;

  PoweredDevice(PoweredDisk power, DeviceConfig config) {
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

  Device device() {
    return device;
  }

  /// Ends the process and starts another one on what survived.
  Device restart() {
    power.fail();
    device.close();
    device = open();
    return device;
  }

  /// A digest of the names and bytes of all files, in hexadecimal.
  String diskDigest() {
    try {
      var digest = MessageDigest.getInstance("SHA-256");
      Disk disk = power.disk();
      for (String name : disk.list()) {
        digest.update(name.getBytes(StandardCharsets.UTF_8));
        try (DiskFile file = disk.open(name)) {
          var bytes = ByteBuffer.allocate(Math.toIntExact(file.size()));
          while (bytes.hasRemaining() && file.read(bytes.position(), bytes) >= 0) {
            // Up to the end of the file.
          }
          digest.update(bytes.flip());
        }
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /// Makes the disk fail no more by itself.
  void calm() {
    power.calm();
  }
}
