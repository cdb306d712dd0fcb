package stoa.bench.storage;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.FileDisk;
import stoa.storage.segment.Commit;

/// The records of the device, which hold the streams: no versions, the latest write at a key wins.
final class RecordContender implements Contender {
  @Override
  public String name() {
    return DeviceContender.NAME + " records";
  }

  @Override
  public String how() {
    return "records without versions, a commit and a sync for all that have arrived";
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
    var batches = new Group<Value>(4096, batch -> append(device, batch));
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
      public void put(long key, ByteBuffer value) throws Exception {
        byte[] bytes = new byte[value.remaining()];
        value.get(bytes);
        batches.join(new Value(key, bytes));
      }

      @Override
      public void close() {
        device.close();
        disk.close();
      }
    };
  }

  private record Value(long key, byte[] bytes) {}

  /// Writes as the layers above write the calls that have arrived: one commit and one sync for all.
  private static void append(Device device, List<Value> batch) {
    var commit = new Commit();
    for (Value value : batch) {
      commit.write(
          new StreamId(1, value.key / 4096),
          0,
          value.key % 4096,
          value.bytes,
          0,
          value.bytes.length);
    }
    device.append(commit);
    device.sync();
  }
}
