package stoa.objects;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import stoa.Corrupt;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.base.StreamId;
import stoa.log.GlobalLog;
import stoa.log.Layout;
import stoa.log.ShardLog;
import stoa.log.Streams;
import stoa.spi.Engine;
import stoa.storage.Device;
import stoa.storage.disk.CorruptData;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.Disk;
import stoa.storage.disk.ScratchDisk;
import stoa.storage.disk.StorageException;
import stoa.storage.disk.UnknownFormat;
import stoa.store.replicas.Divergence;
import stoa.store.threads.Threads;

/// Opens stores that live in this process: `memory:` and `file:DIRECTORY`, of one shard or, with
/// `?shards=NUMBER`, of several.
public final class EmbeddedEngine implements Engine {
  /// For [java.util.ServiceLoader].
  public EmbeddedEngine() {}

  @Override
  public boolean opens(String scheme) {
    return scheme.equals("memory") || scheme.equals("file");
  }

  @Override
  public Stoa open(StoaConfig config) {
    return open(config, disk -> disk);
  }

  /// Opens a store whose files stay as they are. The store keeps what it writes in memory, and
  /// drops it when it is closed. No other process may have the directory open meanwhile.
  ///
  /// @param bytesMax how much may be written to each shard, in bytes
  public static Stoa openScratch(StoaConfig config, long bytesMax) {
    return open(config, disk -> new ScratchDisk(disk, bytesMax));
  }

  /// Opens it once more when it met damage in an index: closing a device forgets such an index, and
  /// opening makes it anew.
  private static Stoa open(StoaConfig config, UnaryOperator<Disk> as) {
    for (boolean first = true; ; first = false) {
      var devices = new ArrayList<Device>();
      try {
        return open(config, as, devices);
      } catch (RuntimeException | Error failed) {
        boolean again = first && devices.stream().anyMatch(EmbeddedEngine::hasDamagedIndex);
        devices.forEach(Device::close);
        if (!again) throw failed;
      }
    }
  }

  private static boolean hasDamagedIndex(Device device) {
    var failure = device.failure();
    return failure != null && failure.getCause() instanceof CorruptData;
  }

  /// @param opened gets the devices
  private static Stoa open(StoaConfig config, UnaryOperator<Disk> as, List<Device> opened) {
    Clock clock = Clock.system();
    return opened(
        config,
        () -> {
          var url = StoreUrl.of(config.url());
          List<Path> made = url.missing();
          try {
            List<Device> devices = devices(url.disks(config).stream().map(as).toList());
            opened.addAll(devices);
            return log(config, url.layout(), devices, clock);
          } catch (IllegalArgumentException otherLayout) {
            StoreUrl.remove(made);
            throw otherLayout;
          }
        },
        clock,
        Threads.real());
  }

  private static List<Device> devices(List<Disk> disks) {
    var devices = new ArrayList<Device>();
    try {
      for (Disk disk : disks) devices.add(Device.open(disk, DeviceConfig.standard()));
      return devices;
    } catch (RuntimeException | Error failed) {
      devices.forEach(Device::close);
      throw failed;
    }
  }

  private static OpenLog log(StoaConfig config, Layout layout, List<Device> devices, Clock clock) {
    try {
      if (devices.size() == 1) return OpenLog.of(devices.getFirst());
      var identity = StreamId.of(config.url() + " " + clock.nowMicros());
      return OpenLog.of(GlobalLog.open(layout, identity, devices));
    } catch (RuntimeException | Error failed) {
      devices.forEach(Device::close);
      throw failed;
    }
  }

  /// Opens a store on a disk, with a clock and threads of the caller's choice: for simulations.
  ///
  /// @param config its URL is used in messages only
  public static Stoa open(StoaConfig config, Disk disk, Clock clock, Threads threads) {
    return open(config, () -> Device.open(disk, DeviceConfig.standard()), clock, threads);
  }

  /// Opens a store on a device of the caller's, which is closed with it.
  ///
  /// @param config its URL is used in messages only
  /// @param device opens the device; what it throws is told as for any other store
  public static Stoa open(
      StoaConfig config, Supplier<Device> device, Clock clock, Threads threads) {
    return opened(config, () -> OpenLog.of(device.get()), clock, threads);
  }

  /// Opens a store on a log that its replicas share: this process is the one that proposes.
  ///
  /// @param config its URL is used in messages only
  /// @param device what this replica is kept on; not closed with the store
  /// @param log opens the log, which is closed with the store; what it throws is told as for any
  ///   other store
  /// @param part what the engine has when several groups keep the store
  public static Stoa openReplicated(
      StoaConfig config,
      Device device,
      Supplier<ShardLog> log,
      Clock clock,
      Threads threads,
      Part part) {
    return opened(
        config, () -> OpenLog.replicated(device, log.get(), threads), clock, threads, part);
  }

  /// Begins to execute, at a replica that does not lead, what the leader executes. To be closed
  /// before the store is opened here.
  ///
  /// @param config as that of [#openReplicated]
  /// @param device what this replica is kept on; not closed with what is opened
  /// @param streams what the replica shows
  /// @param part as that of [#openReplicated]
  /// @param told is told, on a thread of its own, of objects that are not what they are where the
  ///   leader is, again and again until the log says so: to be passed to [ObjectService#quarantine]
  ///   there
  public static Standby openStandby(
      StoaConfig config,
      Device device,
      Streams streams,
      Clock clock,
      Threads threads,
      Part part,
      Consumer<Divergence> told) {
    return new Standby(config, device, streams, clock, threads, part, told);
  }

  /// Opens a store of several shards on devices of the caller's, which are closed with it.
  ///
  /// @param config its URL is used in messages only
  /// @param log opens the log; what it throws is told as for any other store
  public static Stoa openGlobal(
      StoaConfig config, Supplier<GlobalLog> log, Clock clock, Threads threads) {
    return opened(config, () -> OpenLog.of(log.get()), clock, threads);
  }

  private static Stoa opened(StoaConfig config, Opening opening, Clock clock, Threads threads) {
    return opened(config, opening, clock, threads, Part.WHOLE);
  }

  private static Stoa opened(
      StoaConfig config, Opening opening, Clock clock, Threads threads, Part part) {
    try {
      return new LocalService(config, opening.open(), clock, threads, part).stoa();
    } catch (IllegalArgumentException | StoaException told) {
      threads.close();
      throw told;
    } catch (CorruptData | UnknownFormat damaged) {
      threads.close();
      throw new Corrupt(
          "\"" + config.url() + "\" cannot be opened: " + damaged.getMessage(), damaged);
    } catch (StorageException failed) {
      threads.close();
      throw new Unavailable(
          "\"" + config.url() + "\" cannot be opened: " + failed.getMessage(), failed);
    }
  }

  private interface Opening {
    OpenLog open();
  }
}
