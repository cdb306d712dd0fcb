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
/// Bytes have offsets from 0 to 2^63 - 2. What was never written, was cut off or lies behind the
/// end reads as zero. A read waits for no writer. Each call sees one moment, and every version that
/// it sees it sees whole; nothing that was read can be lost, not even by a power loss.
///
/// Thread-safe. Methods throw [Gone] when the blob was deleted, [Closed] when the store was closed,
/// [Corrupt] when stored bytes are not what was written (others stay readable), and [Unavailable]
/// when the disk cannot be read. Asynchronous forms answer these with the future.
public interface BlobReader {
  /// The version of the blob: that of the last write that is seen; 0 when there was none.
  long version();

  /// Where the last byte ends that was written and not cut off; 0 when there is none.
  long size();

  /// The bytes from `offset` on, `length` of them.
  ///
  /// @throws LimitExceeded when there are more than [Limits#blobBytesMax()]
  /// @throws IllegalArgumentException when the range is not within the offsets
  byte[] read(long offset, int length);

  /// Fills the remaining room of `target` with the bytes from `offset` on.
  ///
  /// @throws LimitExceeded when that is more than [Limits#blobBytesMax()]
  /// @throws IllegalArgumentException when the range is not within the offsets
  void read(long offset, ByteBuffer target);

  /// Begins to do what [#read(long, int)] does.
  CompletableFuture<byte[]> readAsync(long offset, int length);

  /// The value of an attribute.
  Optional<byte[]> attribute(String name);

  /// All attributes by name.
  SortedMap<String, byte[]> attributes();

  /// Which version covers which bytes (VOSD paper, section II-B), in ascending order. Of a blob
  /// with many extents prefer [#history(long, long, Predicate)].
  List<BlobExtent> history();

  /// Visits which version covers which bytes between `from` and `to`, `to` excluded, in ascending
  /// order, until the visitor answers false. Bytes that no version covers are left out.
  ///
  /// @throws IllegalArgumentException when `from` is negative
  void history(long from, long to, Predicate<BlobExtent> visitor);

  /// Writes the bytes from 0 to the end to a stream, and answers how many these are. Of a [Blob]
  /// that is written meanwhile each mebibyte is of one moment; copy a [Blob#snapshot()] when all
  /// must be.
  ///
  /// @throws IOException when the stream does
  long copyTo(OutputStream to) throws IOException;
}
