package stoa.log;

import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.segment.Commit;

/// The storage of [Streams]: the extents of one device, or of those of several shards.
///
/// Thread-safe. Throws the exceptions of [Device].
interface Extents {
  /// Returns the data at exactly this offset, or null.
  byte @Nullable [] read(StreamId stream, int space, long offset);

  /// Returns the greatest offset at or below one, or -1.
  long floor(StreamId stream, int space, long offset);

  /// Returns the extent at the greatest offset at or below one, or null.
  Device.@Nullable Extent readFloor(StreamId stream, int space, long offset);

  /// Visits the extents from one offset to another, both inclusive, in ascending order, until the
  /// visitor returns false.
  void scan(StreamId stream, int space, long from, long to, Device.ExtentVisitor visitor);

  /// Writes a commit about a stream, durable with the next batch.
  void append(StreamId stream, Commit commit);

  /// How far a stream is released.
  ///
  /// @param oldest the bound below which nothing counts
  /// @param entries the first entry that stays
  /// @param marks the first mark that stays; 0 when all do
  /// @param checkpoints the first checkpoint that stays; 0 when all do
  record Trim(long oldest, long entries, long marks, long checkpoints) {
    /// Adds it to a commit.
    void add(StreamId stream, Commit commit) {
      commit.trim(stream, Streams.OLDEST, oldest).trim(stream, Streams.ENTRIES, entries);
      if (marks > 0) commit.trim(stream, Streams.MARKS, marks);
      if (checkpoints > 0) commit.trim(stream, Streams.CHECKPOINTS, checkpoints);
    }
  }

  /// Releases the beginning of a stream, at once.
  void trim(StreamId stream, Trim trim);

  /// Releases more of the beginning of a stream that was trimmed, on this replica alone: what a
  /// later checkpoint has made unneeded.
  void release(StreamId stream, Trim trim);

  /// Releases the headers before a counter.
  void trimLog(long before);

  /// Returns the offset before which a space of a stream was released.
  long trimmedBefore(StreamId stream, int space);

  /// Makes appends and releases durable.
  void sync();

  /// Returns those of one device, as its streams show them.
  static Extents of(Device device) {
    return ReplicaLog.isOn(device) ? ReplicaLog.applied(device) : all(device);
  }

  /// Returns all those of one device.
  static Extents all(Device device) {
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

      @Override
      public void trim(StreamId stream, Trim trim) {
        var commit = new Commit();
        trim.add(stream, commit);
        device.append(commit);
      }

      @Override
      public void release(StreamId stream, Trim trim) {
        trim(stream, trim);
      }

      @Override
      public void trimLog(long before) {
        device.append(new Commit().trim(Streams.LOG, Streams.ENTRIES, before));
      }

      @Override
      public long trimmedBefore(StreamId stream, int space) {
        return device.trimmedBefore(stream, space);
      }

      @Override
      public void sync() {
        device.sync();
      }
    };
  }
}
