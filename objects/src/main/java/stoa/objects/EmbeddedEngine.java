package stoa.objects;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.function.Supplier;
import stoa.Corrupt;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.log.LocalShardLog;
import stoa.spi.Engine;
import stoa.storage.CorruptData;
import stoa.storage.Device;
import stoa.storage.DeviceConfig;
import stoa.storage.Disk;
import stoa.storage.FileDisk;
import stoa.storage.MemoryDisk;
import stoa.storage.StorageException;
import stoa.storage.UnknownFormat;
import stoa.store.Threads;

/// Opens stores that live in this process: `memory:` and `file:DIRECTORY`.
public final class EmbeddedEngine implements Engine {
  /// For [java.util.ServiceLoader].
  public EmbeddedEngine() {}

  @Override
  public boolean opens(String scheme) {
    return scheme.equals("memory") || scheme.equals("file");
  }

  @Override
  public Stoa open(StoaConfig config) {
    return open(
        config,
        () -> Device.open(disk(config), DeviceConfig.standard()),
        Clock.system(),
        Threads.real());
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
    try {
      Device opened = device.get();
      return new EmbeddedStoa(config, new LocalShardLog(opened), opened, clock, threads);
    } catch (IllegalArgumentException badUrl) {
      threads.close();
      throw badUrl;
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

  private static Disk disk(StoaConfig config) {
    String url = config.url();
    String place = url.substring(url.indexOf(':') + 1);
    if (config.scheme().equals("memory")) {
      if (!place.isEmpty()) {
        throw new IllegalArgumentException(
            "\"" + url + "\" names a memory store, which has no name; use memory:");
      }
      return new MemoryDisk(config.limits().memoryBytesMax());
    }
    String path = place.startsWith("//") ? place.substring(2) : place;
    if (path.isEmpty()) {
      throw new IllegalArgumentException(
          "\"" + url + "\" names no directory; use file:DIRECTORY, for example file:./data");
    }
    try {
      return new FileDisk(Path.of(path));
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException("\"" + url + "\": " + e.getMessage(), e);
    }
  }
}
