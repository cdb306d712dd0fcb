package stoa.storage;

import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// The versioned object device: append-only checksummed segments and an index of extents.
///
/// Thread-safe: commits are taken one at a time, reads run beside them and see every commit that
/// [#append] has returned from.
public final class Device implements AutoCloseable {
  private Device() {}

  /// Opens the device on a disk and recovers it.
  public static Device open(Disk disk, DeviceConfig config) {
    throw new UnsupportedOperationException();
  }

  /// Writes a commit behind all earlier ones and makes it visible to readers. It is durable, whole
  /// or not at all, once a later [#sync] has returned. The commit may be reused afterwards.
  public void append(Commit commit) {
    throw new UnsupportedOperationException();
  }

  /// Makes every commit appended before durable.
  public void sync() {
    throw new UnsupportedOperationException();
  }

  /// The data of the extent that was written at exactly this offset, or null.
  public byte @Nullable [] read(StreamId object, int space, long offset) {
    throw new UnsupportedOperationException();
  }

  /// The greatest offset at or below `offset` at which an extent was written, or -1.
  public long floor(StreamId object, int space, long offset) {
    throw new UnsupportedOperationException();
  }

  /// Visits the extents with offsets from `from` to `to`, both inclusive, in ascending order, until
  /// the visitor answers false.
  public void scan(StreamId object, int space, long from, long to, ExtentVisitor visitor) {
    throw new UnsupportedOperationException();
  }

  /// Receives the extents of a scan.
  @FunctionalInterface
  public interface ExtentVisitor {
    /// One extent; answers whether to go on.
    boolean visit(long offset, byte[] data);
  }

  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
