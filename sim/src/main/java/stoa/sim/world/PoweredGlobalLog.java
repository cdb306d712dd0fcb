package stoa.sim.world;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Unavailable;
import stoa.base.StreamId;
import stoa.log.BatchLog;
import stoa.log.GlobalLog;
import stoa.log.Layout;
import stoa.log.Streams;
import stoa.sim.Chance;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFailed;
import stoa.storage.disk.DiskFull;
import stoa.storage.disk.ReadFailed;
import stoa.storage.disk.StorageException;

/// A [GlobalLog] over several shards on one disk, which lose power together. One owner.
public final class PoweredGlobalLog implements PoweredLog {
  // The number of power failures while the log opens.
  private static final int ATTEMPTS_MAX = 100;

  private final Layout layout;
  private final PoweredDisk power;
  private final DeviceConfig config;
  private final @Nullable Chance losses;
  private List<Device> devices = List.of();
  private GlobalLog log;

  /// Creates the shards on a disk.
  public PoweredGlobalLog(Layout layout, PoweredDisk disk, DeviceConfig config) {
    this(layout, disk, config, null);
  }

  /// Creates the shards on a disk; now and then one of them loses all its files.
  ///
  /// @param losses decides the moments; null for never
  public PoweredGlobalLog(
      Layout layout, PoweredDisk disk, DeviceConfig config, @Nullable Chance losses) {
    this.layout = layout;
    this.power = disk;
    this.config = config;
    this.losses = losses;
    this.log = open();
  }

  private GlobalLog open() {
    for (int attempt = 0; ; attempt++) {
      if (attempt == ATTEMPTS_MAX) power.calm();
      devices = new ArrayList<>();
      try {
        for (int i = 0; i < layout.shards(); i++) {
          var part = part(i);
          devices.add(Device.open(part, config, Runnable::run));
        }
        return GlobalLog.open(layout, StreamId.of("simulated"), devices);
      } catch (DeviceFailed | ReadFailed | DiskFull | Unavailable powerLost) {
        power.fail();
        devices.forEach(Device::close);
      }
    }
  }

  /// Returns the present log.
  public GlobalLog log() {
    return log;
  }

  /// Lets the storage devices do one step of their maintenance.
  ///
  /// @return false when there is nothing to do
  boolean maintain() {
    boolean any = false;
    for (Device device : devices) any |= device.maintain();
    return any;
  }

  /// Returns a digest of the names and bytes of all files, in hexadecimal.
  String diskDigest() {
    return DiskDigest.of(power.disk());
  }

  @Override
  public BatchLog leader() {
    return log;
  }

  @Override
  public boolean step() {
    return false;
  }

  private PartOfDisk part(int shard) {
    return new PartOfDisk(power.disk(), "s" + shard + "-");
  }

  @Override
  public void restart() {
    power.fail();
    log.close();
    if (losses != null && losses.below(4) == 0) lose(losses.below(layout.shards()));
    log = open();
  }

  private void lose(int shard) {
    boolean gone = false;
    while (!gone) {
      try {
        for (String name : part(shard).list()) part(shard).delete(name);
        power.disk().syncDirectory();
        gone = true;
      } catch (IOException | StorageException powerLost) {
        power.fail();
      }
    }
  }

  @Override
  public List<Streams> replicas() {
    return List.of(log.streams());
  }

  @Override
  public void calm() {
    power.calm();
  }

  @Override
  public void close() {
    log.close();
  }
}
