package stoa.bench.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/// A durable store of bytes that the storage benchmark measures.
///
/// `ServiceLoader` finds those of other engines. Implementations keep no state of their own; the
/// caller owns the stores that they open.
public interface Contender {
  /// Returns its name in tables and figures.
  String name();

  /// Returns how it makes a write durable, in a line.
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

  /// Opens a store like [#open(Path)], without idle-time work to make reads faster: the engine does
  /// it only in [Store#maintain()].
  default Store openUntended(Path folder) throws Exception {
    return open(folder);
  }

  /// An open store: one long object, and beside it values under keys.
  ///
  /// Thread-safe, except for [#settle()] and [#close()].
  interface Store extends AutoCloseable {
    /// Writes all remaining bytes of `data` at an offset of the long object. On return they are
    /// durable and readable. The buffer is direct, begins in memory at a multiple of 4096, and its
    /// position may move.
    void write(long offset, ByteBuffer data) throws Exception;

    /// Fills all remaining room of `target` from an offset of the long object; bytes never written
    /// are zero. The buffer is as [#write(long, ByteBuffer)] says.
    void read(long offset, ByteBuffer target) throws Exception;

    /// Stores all remaining bytes of `value` under an unused key; durable on return. All values of
    /// a store have the same size, and its keys are dense.
    void put(long key, ByteBuffer value) throws Exception;

    /// Moves the written bytes to their final place, as far as the engine postpones that.
    default void settle() throws Exception {}

    /// Returns how many bytes the engine has passed to its own port to the disk; 0 when it does not
    /// count.
    default long portBytes() {
      return 0;
    }

    /// Does one step of the engine's idle-time work that makes reads faster; returns whether there
    /// is more to do.
    default boolean maintain() throws Exception {
      return false;
    }

    @Override
    void close() throws IOException;
  }
}
