package stoa;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/// A write of any number of ranges and attributes of a blob as one version. Readers see all of it
/// at once, or nothing.
///
/// ```java
/// try (var write = video.begin()) {
///   write.write(0, header);
///   write.write(4096, frames);
///   long version = write.commit();
/// }
/// ```
///
/// The store writes ranges to the disk as they come. Where they overlap, the range that began last
/// counts. A crash before [#commit] leaves nothing of the write. Any number of writes may be open
/// at once, also on one blob, up to 65,536 in a store. None waits for another, and their versions
/// have the order of their commits.
///
/// Thread-safe. Methods throw [Closed] when the store was closed, [Unavailable] when the disk is
/// full or has failed, and [IllegalStateException] when the write has ended.
public interface BlobWrite extends AutoCloseable {
  /// Writes bytes at an offset. They are durable on return, and not yet visible.
  ///
  /// @throws LimitExceeded when there are more than [Limits#blobBytesMax()] bytes
  /// @throws IllegalArgumentException when the range is not within the valid offsets, or the write
  ///   has more than 1,048,576 parts
  void write(long offset, byte[] bytes);

  /// Writes the remaining bytes of `bytes` at an offset; as [#write(long, byte[])].
  void write(long offset, ByteBuffer bytes);

  /// Begins to write the remaining bytes of `bytes` at an offset. The caller must not change them
  /// before the future completes. Waits only while more than 64 MiB are in progress.
  CompletableFuture<Void> writeAsync(long offset, ByteBuffer bytes);

  /// Removes all bytes from `size` on. It never makes the blob longer.
  void truncate(long size);

  /// Sets an attribute.
  ///
  /// @param name 1 to 255 bytes in UTF-8
  /// @param value at most 64 KiB
  /// @throws IllegalArgumentException when name or value is too long, or the name contains half of
  ///   a surrogate pair
  void attribute(String name, byte[] value);

  /// Removes an attribute.
  void removeAttribute(String name);

  /// Waits for the ranges of the write, and makes all of it durable and visible.
  ///
  /// @return the version
  /// @throws Gone when the blob was deleted; then nothing of the write is visible
  /// @throws UnknownOutcome when the disk failed meanwhile; reopen the store and read
  long commit();

  /// Discards the write, unless it was committed.
  @Override
  void close();
}
