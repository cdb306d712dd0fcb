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
import stoa.log.BatchLog;
import stoa.log.GlobalLog;
import stoa.log.Layout;
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
  /// Creates the engine for [java.util.ServiceLoader].
  public EmbeddedEngine() {}

  @Override
  public boolean opens(String scheme) {
    return scheme.equals("memory") || scheme.equals("file");
  }

  @Override
  public Stoa open(StoaConfig config) {
    return open(config, disk -> disk);
  }

  /// Opens a store without changing its files. The store keeps its writes in memory, and drops them
  /// on close. No other process may have the directory open meanwhile.
  ///
  /// @param bytesMax the most bytes that the store writes to each shard
  public static Stoa openScratch(StoaConfig config, long bytesMax) {
    return open(config, disk -> new ScratchDisk(disk, bytesMax));
  }

  /// Opens the store a second time when the first attempt finds damage in an index: closing the
  /// device drops such an index, and the next opening rebuilds it.
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

  /// @param opened receives the opened devices
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
  /// @param config only messages use its URL
  public static Stoa open(StoaConfig config, Disk disk, Clock clock, Threads threads) {
    return open(config, () -> Device.open(disk, DeviceConfig.standard()), clock, threads);
  }

  /// Opens a store on a device of the caller. Closing the store closes the device.
  ///
  /// @param config only messages use its URL
  /// @param device opens the device; the store reports its exceptions as for any other store
  public static Stoa open(
      StoaConfig config, Supplier<Device> device, Clock clock, Threads threads) {
    return opened(config, () -> OpenLog.of(device.get()), clock, threads);
  }

  /// Opens a store on a replicated log, at the replica that proposes.
  ///
  /// @param config only messages use its URL
  /// @param device the device of this replica; stays open when the store closes
  /// @param log opens the log; the store reports its exceptions as for any other store, and closes
  ///   the log with itself
  /// @param part the part of this group, when several groups keep the store
  public static Stoa openReplicated(
      StoaConfig config,
      Device device,
      Supplier<BatchLog> log,
      Clock clock,
      Threads threads,
      Part part) {
    return opened(
        config, () -> OpenLog.replicated(device, log.get(), threads), clock, threads, part);
  }

  /// Starts a standby, which executes the leader's calls at a replica that does not lead. Close it
  /// before this process opens the store.
  ///
  /// @param config as for [#openReplicated]
  /// @param device the device of this replica; stays open when the standby closes
  /// @param streams the streams of the replica
  /// @param part as for [#openReplicated]
  /// @param told receives, on a thread of its own, objects whose state differs from the leader's,
  ///   repeatedly until the log has the quarantine; pass them to [OperatorService#quarantine] at
  ///   the leader
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

  /// Opens a store of several shards on devices of the caller. Closing the store closes the
  /// devices.
  ///
  /// @param config only messages use its URL
  /// @param log opens the log; the store reports its exceptions as for any other store
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
