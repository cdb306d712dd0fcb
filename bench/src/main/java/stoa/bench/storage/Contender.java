package stoa.bench.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/// A way to store bytes durably that the storage benchmark measures.
///
/// Those of other engines are found with `ServiceLoader`. Implementations keep no state of their
/// own; what they open belongs to the caller.
public interface Contender {
  /// What it is called in tables and figures.
  String name();

  /// How it makes a write durable, in a line.
  String how();

  /// Returns whether many callers are better off as platform threads, because the engine blocks the
  /// thread that calls it.
  default boolean blocksThreads() {
    return true;
  }

  /// Returns whether it keeps a long object too, not only values under keys.
  default boolean keepsObjects() {
    return true;
  }

  /// Opens a store in a folder that exists; an empty one, or one that a store of this contender was
  /// closed in.
  Store open(Path folder) throws Exception;

  /// As [#open(Path)], but what the engine would do in idle time to make reads faster it does only
  /// when [Store#maintain()] is called.
  default Store openUntended(Path folder) throws Exception {
    return open(folder);
  }

  /// An open store: one long object, and beside it values under keys.
  ///
  /// Thread-safe, but for [#settle()] and [#close()].
  interface Store extends AutoCloseable {
    /// Writes all remaining bytes of `data` at an offset of the long object. When it returns, they
    /// are durable and readable. The buffer is direct, begins in memory at a multiple of 4096, and
    /// its position may move.
    void write(long offset, ByteBuffer data) throws Exception;

    /// Fills all remaining room of `target` from an offset of the long object; bytes never written
    /// are zero. The buffer is as [#write(long, ByteBuffer)] says.
    void read(long offset, ByteBuffer target) throws Exception;

    /// Stores all remaining bytes of `value` under a key that was not used before; durable when it
    /// returns. All values of a store have the same size, and its keys are dense.
    void put(long key, ByteBuffer value) throws Exception;

    /// Brings what was written to its final place, as far as the engine puts that off.
    default void settle() throws Exception {}

    /// How many bytes were given to the engine's own port to the disk; 0 when it does not count.
    default long portBytes() {
      return 0;
    }

    /// Does one step of what the engine does in idle time to make reads faster; returns whether
    /// there is more to do.
    default boolean maintain() throws Exception {
      return false;
    }

    @Override
    void close() throws IOException;
  }
}
