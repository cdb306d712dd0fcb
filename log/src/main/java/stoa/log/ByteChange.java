package stoa.log;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/// A change of one [ByteObject] in any number of parts, which becomes its next version when it is
/// committed: all of it is seen at once, or nothing is.
///
/// Methods behave as those of [stoa.storage.WriteTransaction]. Thread-safe.
public interface ByteChange extends AutoCloseable {
  /// Writes the remaining bytes of `data` at `offset`: durable on return, and not yet seen.
  void write(long offset, ByteBuffer data);

  /// Begins to do what [#write] does. The bytes must not change before the answer completes.
  CompletableFuture<Void> writeAsync(long offset, ByteBuffer data);

  /// Takes away all bytes from `size` on.
  void truncate(long size);

  /// Sets an attribute.
  void attribute(String name, byte[] value);

  /// Removes an attribute.
  void removeAttribute(String name);

  /// Waits for all parts, makes them seen and durable, and answers the version.
  long commit();

  /// Gives the change up, unless it was committed.
  @Override
  void close();
}
