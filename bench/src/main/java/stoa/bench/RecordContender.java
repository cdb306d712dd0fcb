package stoa.bench;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import stoa.base.StreamId;
import stoa.storage.Commit;
import stoa.storage.Device;
import stoa.storage.DeviceConfig;
import stoa.storage.FileDisk;

/// The records of the device, which streams are kept in: no versions, the latest write at a key
/// wins.
final class RecordContender implements Contender {
  @Override
  public String name() {
    return DeviceContender.NAME + " records";
  }

  @Override
  public String how() {
    return "records without versions, shared sync of the log";
  }

  @Override
  public boolean blocksThreads() {
    return false;
  }

  @Override
  public boolean keepsObjects() {
    return false;
  }

  @Override
  public Store open(Path folder) {
    var disk = new FileDisk(folder);
    var device = Device.open(disk, DeviceConfig.standard());
    return new Store() {
      @Override
      public void write(long offset, ByteBuffer data) {
        throw new UnsupportedOperationException("records are values under keys");
      }

      @Override
      public void read(long offset, ByteBuffer target) {
        throw new UnsupportedOperationException("records are values under keys");
      }

      @Override
      public void put(long key, ByteBuffer value) {
        byte[] bytes = new byte[value.remaining()];
        value.get(bytes);
        device.append(
            new Commit().write(new StreamId(1, key / 4096), 0, key % 4096, bytes, 0, bytes.length));
        device.sync();
      }

      @Override
      public void close() {
        device.close();
        disk.close();
      }
    };
  }
}
