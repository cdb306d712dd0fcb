package stoa.store.blobs;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import stoa.BlobExtent;
import stoa.BlobReader;
import stoa.LimitExceeded;
import stoa.spi.CallContext;
import stoa.storage.ObjectReader;

/// What a blob and its snapshots have in common. Thread-safe.
abstract sealed class StoredReader implements BlobReader permits StoredBlob, StoredSnapshot {
  static final int CHUNK_BYTES = 1 << 20;

  /// Reads one moment, within what the store has accepted.
  abstract <T> T readNow(Function<ObjectReader, T> reading);

  abstract Blobs blobs();

  private <T> T reading(Function<ObjectReader, T> reading) {
    ensureOutside();
    return blobs().accepted(() -> readNow(reading));
  }

  /// Refuses what a method of a shared object cannot do.
  void ensureOutside() {
    if (CallContext.CURRENT.isBound()) {
      throw new IllegalStateException(
          "a method of a shared object cannot read or write "
              + this
              + ", as that is not logged with the call; do it in the caller, and pass what the"
              + " method needs");
    }
  }

  void ensureWithinLimit(int bytes) {
    if (bytes > blobs().bytesMax()) {
      throw new LimitExceeded(
          bytes
              + " bytes of "
              + this
              + " at once; blobBytesMax is "
              + blobs().bytesMax()
              + ": do it in parts");
    }
  }

  @Override
  public long version() {
    return reading(reader -> reader.versionState().highest());
  }

  @Override
  public long size() {
    return reading(ObjectReader::size);
  }

  @Override
  public byte[] read(long offset, int length) {
    ensureLength(length);
    return reading(reader -> reader.read(offset, length));
  }

  @Override
  public void read(long offset, ByteBuffer target) {
    ensureWithinLimit(target.remaining());
    reading(reader -> {
      reader.read(offset, target);
      return true;
    });
  }

  @Override
  public CompletableFuture<byte[]> readAsync(long offset, int length) {
    ensureOutside();
    ensureLength(length);
    return blobs().acceptedAsync(() -> readNow(reader -> reader.read(offset, length)));
  }

  private void ensureLength(int length) {
    if (length < 0) throw new IllegalArgumentException("length is " + length + "; the least is 0");
    ensureWithinLimit(length);
  }

  @Override
  public Optional<byte[]> attribute(String name) {
    return reading(reader -> Optional.ofNullable(reader.attribute(name)));
  }

  @Override
  public SortedMap<String, byte[]> attributes() {
    return reading(ObjectReader::attributes);
  }

  @Override
  public List<BlobExtent> history() {
    return reading(reader -> reader.history().stream().map(StoredReader::extent).toList());
  }

  @Override
  public void history(long from, long to, Predicate<BlobExtent> visitor) {
    reading(reader -> {
      reader.history(from, to, covered -> visitor.test(extent(covered)));
      return true;
    });
  }

  private static BlobExtent extent(ObjectReader.CoveredBytes covered) {
    var content =
        switch (covered.content()) {
          case DATA -> BlobExtent.Content.DATA;
          case HOLE -> BlobExtent.Content.HOLE;
        };
    return new BlobExtent(covered.offset(), covered.length(), covered.version(), content);
  }

  @Override
  public long copyTo(OutputStream to) throws IOException {
    long size = size();
    int chunk = Math.min(CHUNK_BYTES, blobs().bytesMax());
    for (long offset = 0; offset < size; offset += chunk) {
      to.write(read(offset, (int) Math.min(chunk, size - offset)));
    }
    return size;
  }
}
