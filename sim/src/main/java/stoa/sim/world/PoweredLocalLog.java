package stoa.sim.world;

import java.util.List;
import stoa.log.BatchLog;
import stoa.log.LocalBatchLog;
import stoa.log.Streams;
import stoa.storage.disk.DeviceConfig;

/// A [LocalBatchLog] on one device, which can lose power. One owner.
public final class PoweredLocalLog implements PoweredLog {
  private final PoweredDevice device;
  private LocalBatchLog log;

  /// Creates the log on a disk.
  public PoweredLocalLog(PoweredDisk disk, DeviceConfig config) {
    device = new PoweredDevice(disk, config);
    log = new LocalBatchLog(device.device());
  }

  @Override
  public BatchLog leader() {
    return log;
  }

  @Override
  public boolean step() {
    return false;
  }

  @Override
  public void restart() {
    device.restart();
    log = new LocalBatchLog(device.device());
  }

  @Override
  public List<Streams> replicas() {
    return List.of(log.streams());
  }

  @Override
  public void calm() {
    device.calm();
  }

  @Override
  public void close() {
    log.close();
  }
}
