package stoa.storage.disk;

import java.io.IOException;
import java.nio.ByteBuffer;

/// One open file of a [Disk].
///
/// One writer at a time; reads run beside it from any thread. Files are written forward: the device
/// never writes over bytes that it wrote before, only over reserved ones. A log whose records tell
/// old from new may write a whole file again.
public interface DiskFile extends AutoCloseable {
  /// Returns the name it was opened under.
  String name();

  /// Returns the length in bytes, with reserved ones.
  long size() throws IOException;

  /// Writes all remaining bytes of `source` at `position`, which is not beyond [#size()].
  /// Afterwards readers see them; they survive a power loss only once a later [#sync()] has
  /// returned. The implementer throws [DiskFull] only when not a single byte was written, and an
  /// [IOException] when that is unknown.
  void write(long position, ByteBuffer source) throws IOException;

  /// Announces writes between `from`, the present size, and `to`, so that syncing them can be cheap
  /// because the file no longer grows. The size becomes any value from `from` to `to`, and reserved
  /// bytes read as zero. An implementer without a gain from this does nothing. [DiskFull] means
  /// that nothing was reserved.
  void reserve(long from, long to) throws IOException;

  /// Throws [DiskFull] when there is certainly no room for writes up to `to`. A normal return
  /// promises nothing.
  default void ensureRoom(long to) throws IOException {}

  /// Reads bytes at `position` into the remaining room of `target`. Returns how many, at least one,
  /// possibly fewer than there is room for; -1 at the end of the file. The implementer never
  /// returns bytes that were neither written nor reserved.
  int read(long position, ByteBuffer target) throws IOException;

  /// Makes everything written to this file so far durable, its size included.
  /// [Disk#syncDirectory()] makes the name durable. After an [IOException] the implementer
  /// guarantees nothing about bytes written since the previous sync; a repeated sync proves
  /// nothing.
  void sync() throws IOException;

  /// Ends the use of this file; that makes nothing durable. Later reads, and those in progress,
  /// throw an [IOException]. Idempotent.
  @Override
  void close();
}
