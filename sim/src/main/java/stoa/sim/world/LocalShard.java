package stoa.sim.world;

import java.util.List;
import stoa.log.BatchLog;
import stoa.log.LocalBatchLog;
import stoa.log.Streams;
import stoa.storage.disk.DeviceConfig;

/// A shard with one replica: a [LocalBatchLog] on one device. One owner.
public final class LocalShard implements ShardUnderTest {
  private final PoweredDevice device;
  private LocalBatchLog log;

  /// Creates the shard on a disk.
  public LocalShard(PoweredDisk disk, DeviceConfig config) {
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
