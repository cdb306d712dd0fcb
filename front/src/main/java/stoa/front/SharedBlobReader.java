package stoa.front;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import stoa.BlobExtent;
import stoa.BlobReader;
import stoa.BlobVersions;
import stoa.LimitExceeded;
import stoa.spi.CallContext;

/// The common part of a blob and its snapshots. Thread-safe.
abstract sealed class SharedBlobReader implements BlobReader
    permits SharedBlob, SharedBlobSnapshot {
  /// The bytes that a copy reads or writes at a time.
  static final int CHUNK_BYTES = 1 << 20;

  /// Returns the store of the blob.
  abstract SharedStoa stoa();

  /// Returns its contents.
  abstract Service.BlobContents contents();

  private Service.BlobContents reading() {
    ensureOutside();
    return contents();
  }

  /// Refuses an operation that a method of a shared object cannot use.
  final void ensureOutside() {
    if (CallContext.CURRENT.isBound()) {
      throw new IllegalStateException(
          "a method of a shared object cannot read or write "
              + this
              + ", as that is not logged with the call; do it in the caller, and pass what the"
              + " method needs");
    }
  }

  private int bytesMax() {
    return stoa().service().blobs().bytesMax();
  }

  final int chunkBytes() {
    return Math.min(CHUNK_BYTES, bytesMax());
  }

  /// Refuses an invalid range before any work on it.
  final void ensureRange(long offset, int length) {
    if (length < 0) throw new IllegalArgumentException("length is " + length + "; the least is 0");
    if (length > bytesMax()) {
      throw new LimitExceeded(
          length
              + " bytes of "
              + this
              + " at once; blobBytesMax is "
              + bytesMax()
              + ": do it in parts");
    }
    if (offset < 0 || offset > Long.MAX_VALUE - length) {
      throw new IllegalArgumentException(
          length + " bytes at offset " + offset + " are not within 0 and 2^63 - 1");
    }
  }

  /// Refuses an invalid size before any work on it.
  static void ensureSize(long size) {
    if (size < 0) throw new IllegalArgumentException("size is " + size + "; the least is 0");
  }

  @Override
  public final long version() {
    return reading().version();
  }

  @Override
  public final BlobVersions versions() {
    return reading().versions();
  }

  @Override
  public final long size() {
    return reading().size();
  }

  @Override
  public final byte[] read(long offset, int length) {
    ensureRange(offset, length);
    return reading().read(offset, length);
  }

  @Override
  public final void read(long offset, ByteBuffer target) {
    ensureRange(offset, target.remaining());
    reading().read(offset, target);
  }

  @Override
  public final CompletableFuture<byte[]> readAsync(long offset, int length) {
    ensureRange(offset, length);
    return reading().readAsync(offset, length);
  }

  @Override
  public final Optional<byte[]> attribute(String name) {
    return Optional.ofNullable(reading().attribute(name));
  }

  @Override
  public final SortedMap<String, byte[]> attributes() {
    return reading().attributes();
  }

  @Override
  public final List<BlobExtent> history() {
    var all = new ArrayList<BlobExtent>();
    history(0, Long.MAX_VALUE, all::add);
    return all;
  }

  @Override
  public final void history(long from, long to, Predicate<BlobExtent> visitor) {
    if (from < 0) throw new IllegalArgumentException("from is " + from + "; the least is 0");
    reading().history(from, to, visitor);
  }

  @Override
  public final long copyTo(OutputStream to) throws IOException {
    long size = size();
    int chunk = chunkBytes();
    for (long offset = 0; offset < size; offset += chunk) {
      to.write(read(offset, (int) Math.min(chunk, size - offset)));
    }
    return size;
  }
}
