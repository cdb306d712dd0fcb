package stoa.storage.disk;

import java.io.IOException;
import java.nio.ByteBuffer;

/// One open file of a [Disk].
///
/// One writer at a time; reads run beside it from any thread. Files are written forward: the device
/// never writes over bytes that it wrote before, only over reserved ones.
public interface DiskFile extends AutoCloseable {
  /// The name it was opened under.
  String name();

  /// The length in bytes, reserved ones included.
  long size() throws IOException;

  /// Writes all remaining bytes of `source` at `position`, which is not beyond [#size()].
  /// Afterwards readers see them; they survive a power loss only once a later [#sync()] has
  /// returned. The implementer throws [DiskFull] only when not a single byte was written, and an
  /// [IOException] when that is not known.
  void write(long position, ByteBuffer source) throws IOException;

  /// Announces writes between `from`, the present size, and `to`, so that syncing them can be cheap
  /// because the file no longer grows. The size becomes anything from `from` to `to`, and what is
  /// not yet written reads as zero. An implementer for whom nothing is gained does nothing.
  /// [DiskFull] means that nothing was reserved.
  void reserve(long from, long to) throws IOException;

  /// Throws [DiskFull] when it is known that there is no room for writes up to `to`. That it does
  /// not throw promises nothing.
  default void ensureRoom(long to) throws IOException {}

  /// Reads bytes at `position` into the remaining room of `target`. Answers how many, at least one,
  /// possibly fewer than there is room for; -1 at the end of the file. The implementer never
  /// answers bytes that were not written or reserved.
  int read(long position, ByteBuffer target) throws IOException;

  /// Makes everything written to this file so far durable, its size included. The name is a matter
  /// of [Disk#syncDirectory()]. After an [IOException] the implementer owes nothing about bytes
  /// written since the sync before; a repeated sync proves nothing.
  void sync() throws IOException;

  /// Ends the use of this file; nothing becomes durable by it. Reads that come later, or are under
  /// way, throw an [IOException]. Idempotent.
  @Override
  void close();
}
