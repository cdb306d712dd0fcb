package stoa.bench.storage;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DirectIo;
import stoa.storage.disk.FileDisk;
import stoa.storage.object.VersionedObject;

/// The versioned object device: each write is a transaction of its own on one long object.
final class DeviceContender implements Contender {
  /// The name of the device in its standard configuration.
  static final String NAME = "Stoa";

  private final DirectIo directIo;

  /// Creates the device in its standard configuration.
  DeviceContender() {
    this(DeviceConfig.standard().directIo());
  }

  /// Creates the device with or without direct input and output.
  DeviceContender(DirectIo directIo) {
    this.directIo = directIo;
  }

  @Override
  public String name() {
    if (directIo == DeviceConfig.standard().directIo()) return NAME;
    return NAME
        + switch (directIo) {
          case ON -> " direct";
          case OFF -> " cached";
        };
  }

  @Override
  public String how() {
    return "versioned object, a transaction for each write, shared sync of the log; "
        + switch (directIo) {
          case ON -> "past the page cache";
          case OFF -> "through the page cache";
        };
  }

  @Override
  public boolean blocksThreads() {
    return false;
  }

  @Override
  public Store open(Path folder) {
    var disk = new CountedDisk(new FileDisk(folder));
    return new Opened(disk, Device.open(disk, config()));
  }

  @Override
  public Store openUntended(Path folder) {
    var disk = new CountedDisk(new FileDisk(folder));
    var threads = Executors.newFixedThreadPool(2);
    return new Opened(disk, Device.open(disk, config(), threads)) {
      @Override
      public void close() {
        super.close();
        threads.shutdown();
      }
    };
  }

  private DeviceConfig config() {
    return DeviceConfig.standard().withDirectIo(directIo);
  }

  private static class Opened implements Store {
    private static final long LONG_OBJECT = 1;
    private static final long SMALL_OBJECTS = 2; // and those above
    private static final int VALUES = 4096; // in each of them

    private final CountedDisk disk;
    private final Device device;
    private final VersionedObject object;
    private final AtomicLong version;

    Opened(CountedDisk disk, Device device) {
      this.disk = disk;
      this.device = device;
      object = device.object(LONG_OBJECT);
      version = new AtomicLong(object.nextVersion());
    }

    @Override
    public void write(long offset, ByteBuffer data) {
      object.write(version.getAndIncrement(), offset, data);
    }

    @Override
    public void read(long offset, ByteBuffer target) {
      object.read(offset, target);
    }

    @Override
    public void put(long key, ByteBuffer value) {
      long inObject = key % VALUES;
      device
          .object(SMALL_OBJECTS + key / VALUES)
          .write(inObject + 1, inObject * value.remaining(), value);
    }

    @Override
    public boolean maintain() {
      return device.maintain();
    }

    @Override
    public long portBytes() {
      return disk.written();
    }

    @Override
    public void close() {
      device.close();
      disk.close();
    }
  }
}
