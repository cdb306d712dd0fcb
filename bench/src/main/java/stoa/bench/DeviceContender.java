package stoa.bench;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import stoa.base.StreamId;
import stoa.storage.Commit;
import stoa.storage.Device;
import stoa.storage.DeviceConfig;
import stoa.storage.FileDisk;

/// The versioned object device: each write is a transaction of its own on one long object.
final class DeviceContender implements Contender {
  /// What it is called.
  static final String NAME = "Stoa";

  private static final StreamId LONG = new StreamId(0, 1);

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String how() {
    return "versioned object, a transaction for each write, shared sync of the log";
  }

  @Override
  public boolean blocksThreads() {
    return false;
  }

  @Override
  public Store open(Path folder) {
    var disk = new CountedDisk(new FileDisk(folder));
    var device = Device.open(disk, DeviceConfig.standard());
    return new Store() {
      @Override
      public void write(long offset, ByteBuffer data) {
        put(LONG, offset, data);
      }

      private void put(StreamId object, long offset, ByteBuffer data) {
        byte[] bytes = new byte[data.remaining()];
        data.get(bytes);
        device.append(new Commit().write(object, 0, offset, bytes, 0, bytes.length));
        device.sync();
      }

      @Override
      public void read(long offset, ByteBuffer target) {
        while (target.hasRemaining()) {
          var extent = device.readFloor(LONG, 0, offset + target.position());
          if (extent == null) throw new IllegalStateException("nothing at " + offset);
          int from = (int) (offset + target.position() - extent.offset());
          target.put(
              extent.data(), from, Math.min(extent.data().length - from, target.remaining()));
        }
      }

      @Override
      public void put(long key, ByteBuffer value) {
        put(new StreamId(1, key / 4096), key % 4096, value);
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
    };
  }
}
