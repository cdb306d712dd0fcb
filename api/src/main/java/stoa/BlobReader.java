package stoa;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/// The bytes and attributes of a blob, as they are now ([Blob]) or as they were ([BlobSnapshot]).
///
/// Bytes have offsets from 0 to 2^63 - 2. Bytes that were never written, that a truncation removed,
/// or that lie after the end read as zero. A read waits for no writer. Each call sees one moment,
/// and sees every version whole. Whatever a caller has read survives a power loss.
///
/// Thread-safe. Methods throw [Gone] when the blob was deleted, [Closed] when the store was closed,
/// [Corrupt] when stored bytes are damaged (others stay readable), and [Unavailable] when the disk
/// cannot be read. Asynchronous forms complete the future with these exceptions.
public interface BlobReader {
  /// Returns the highest visible version; 0 when there is none. It is that of the last write,
  /// unless callers choose the versions.
  long version();

  /// Returns all versions. They have gaps only when callers choose the versions
  /// ([Blob#begin(long)]).
  BlobVersions versions();

  /// Returns the offset after the last byte that was written and not removed; 0 when there is none.
  long size();

  /// Returns `length` bytes from `offset` on.
  ///
  /// @throws LimitExceeded when `length` exceeds [Limits#blobBytesMax()]
  /// @throws IllegalArgumentException when the range is not within the valid offsets
  byte[] read(long offset, int length);

  /// Fills the remaining room of `target` with the bytes from `offset` on.
  ///
  /// @throws LimitExceeded when the room exceeds [Limits#blobBytesMax()]
  /// @throws IllegalArgumentException when the range is not within the valid offsets
  void read(long offset, ByteBuffer target);

  /// Begins to read, as [#read(long, int)] does.
  CompletableFuture<byte[]> readAsync(long offset, int length);

  /// Returns the value of an attribute.
  Optional<byte[]> attribute(String name);

  /// Returns all attributes by name.
  SortedMap<String, byte[]> attributes();

  /// Returns the version of each range of bytes (VOSD paper, section II-B), in ascending order.
  /// Prefer [#history(long, long, Predicate)] for a blob with many extents.
  List<BlobExtent> history();

  /// Visits the extents between `from` and `to`, `to` excluded, in ascending order, until the
  /// visitor returns false. Omits bytes that no version covers.
  ///
  /// @throws IllegalArgumentException when `from` is negative
  void history(long from, long to, Predicate<BlobExtent> visitor);

  /// Writes the bytes from 0 to the end to a stream, and returns their number. While other callers
  /// write to a [Blob], each mebibyte shows one moment; copy a [Blob#snapshot()] to get one moment
  /// for all.
  ///
  /// @throws IOException when the stream throws it
  long copyTo(OutputStream to) throws IOException;
}
