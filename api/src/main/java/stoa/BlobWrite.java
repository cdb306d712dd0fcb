package stoa;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/// A write of any number of ranges and attributes of a blob as one version: all of it is seen at
/// once, or nothing is.
///
/// ```java
/// try (var write = video.begin()) {
///   write.write(0, header);
///   write.write(4096, frames);
///   long version = write.commit();
/// }
/// ```
///
/// The ranges are written to the disk as they come. Where they overlap, the one that was begun last
/// counts. A crash before [#commit] is as if there had been no write. Any number may be open at
/// once, on one blob too, up to 65,536 in a store; none waits for another, and their versions have
/// the order in which they were committed.
///
/// Thread-safe. Methods throw [Closed] when the store was closed, [Unavailable] when the disk is
/// full or has failed, and [IllegalStateException] when the write has ended.
public interface BlobWrite extends AutoCloseable {
  /// Writes bytes at an offset. They are durable on return, and not yet seen.
  ///
  /// @throws LimitExceeded when there are more than [Limits#blobBytesMax()]
  /// @throws IllegalArgumentException when the range is not within the offsets, or the write has
  ///   more than 1,048,576 parts
  void write(long offset, byte[] bytes);

  /// Writes the remaining bytes of `bytes` at an offset; as [#write(long, byte[])].
  void write(long offset, ByteBuffer bytes);

  /// Begins to write the remaining bytes of `bytes` at an offset. They must not change before the
  /// answer completes. Waits only while more than 64 MiB are under way.
  CompletableFuture<Void> writeAsync(long offset, ByteBuffer bytes);

  /// Takes away all bytes from `size` on. It never makes the blob longer.
  void truncate(long size);

  /// Sets an attribute.
  ///
  /// @param name 1 to 255 bytes in UTF-8
  /// @param value at most 64 KiB
  /// @throws IllegalArgumentException when name or value is too long, or the name holds half of a
  ///   surrogate pair
  void attribute(String name, byte[] value);

  /// Removes an attribute.
  void removeAttribute(String name);

  /// Ends the write: waits for its ranges, and makes all of it seen and durable.
  ///
  /// @return the version
  /// @throws Gone when the blob was deleted; nothing of the write is seen
  /// @throws UnknownOutcome when the disk failed meanwhile; reopen the store and look
  long commit();

  /// Takes the write back, unless it was committed.
  @Override
  void close();
}
