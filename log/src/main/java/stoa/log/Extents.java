package stoa.log;

import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.storage.Commit;
import stoa.storage.Device;

/// What [Streams] are kept in: the extents of one device, or of those of several shards.
///
/// Thread-safe. Throws what [Device] throws.
interface Extents {
  /// The data at exactly this offset, or null.
  byte @Nullable [] read(StreamId stream, int space, long offset);

  /// The greatest offset at or below one, or -1.
  long floor(StreamId stream, int space, long offset);

  /// What is at the greatest offset at or below one, or null.
  Device.@Nullable Extent readFloor(StreamId stream, int space, long offset);

  /// Visits what is from one offset to another, both inclusive, in ascending order, until the
  /// visitor answers false.
  void scan(StreamId stream, int space, long from, long to, Device.ExtentVisitor visitor);

  /// Writes a commit about a stream, durable with the next batch.
  void append(StreamId stream, Commit commit);

  /// Those of one device.
  static Extents of(Device device) {
    return new Extents() {
      @Override
      public byte @Nullable [] read(StreamId stream, int space, long offset) {
        return device.read(stream, space, offset);
      }

      @Override
      public long floor(StreamId stream, int space, long offset) {
        return device.floor(stream, space, offset);
      }

      @Override
      public Device.@Nullable Extent readFloor(StreamId stream, int space, long offset) {
        return device.readFloor(stream, space, offset);
      }

      @Override
      public void scan(
          StreamId stream, int space, long from, long to, Device.ExtentVisitor visitor) {
        device.scan(stream, space, from, to, visitor);
      }

      @Override
      public void append(StreamId stream, Commit commit) {
        device.append(commit);
      }
    };
  }
}
