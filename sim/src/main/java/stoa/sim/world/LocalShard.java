package stoa.sim.world;

import java.util.List;
import stoa.log.LocalShardLog;
import stoa.log.ShardLog;
import stoa.log.Streams;
import stoa.storage.disk.DeviceConfig;

/// A shard with one replica: a [LocalShardLog] on one device. One owner.
public final class LocalShard implements ShardUnderTest {
  private final PoweredDevice device;
  private LocalShardLog log;

  /// Creates the shard on a disk.
  public LocalShard(PoweredDisk disk, DeviceConfig config) {
    device = new PoweredDevice(disk, config);
    log = new LocalShardLog(device.device());
  }

  @Override
  public ShardLog leader() {
    return log;
  }

  @Override
  public boolean step() {
    return false;
  }

  @Override
  public void restart() {
    device.restart();
    log = new LocalShardLog(device.device());
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
