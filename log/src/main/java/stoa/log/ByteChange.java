package stoa.log;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/// A change of one [ByteObject] in any number of parts, which becomes its next version at its
/// commit. Readers see all of it at once, or nothing.
///
/// Methods behave as those of [stoa.storage.object.WriteTransaction]. Thread-safe.
public interface ByteChange extends AutoCloseable {
  /// Writes the remaining bytes of `data` at `offset`: durable on return, and not yet visible.
  void write(long offset, ByteBuffer data);

  /// Begins to write, as [#write] does. The caller must not change the bytes before the future
  /// completes.
  CompletableFuture<Void> writeAsync(long offset, ByteBuffer data);

  /// Removes all bytes from `size` on.
  void truncate(long size);

  /// Sets an attribute.
  void attribute(String name, byte[] value);

  /// Removes an attribute.
  void removeAttribute(String name);

  /// Waits for all parts, makes them visible and durable, and returns the version.
  long commit();

  /// Abandons the change, unless it was committed.
  @Override
  void close();
}
