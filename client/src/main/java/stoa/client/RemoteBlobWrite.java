package stoa.client;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import stoa.BlobWrite;
import stoa.base.Decoder;
import stoa.base.Encoder;

/// A write of several ranges of a blob in a server. Thread-safe.
final class RemoteBlobWrite implements BlobWrite {
  private final RemoteBlob blob;
  private final long number;
  private final Scope scope = new Scope();
  private volatile boolean ended;

  /// Begins one.
  RemoteBlobWrite(RemoteBlob blob, long number) {
    this.blob = blob;
    this.number = number;
    var _ = within(RemoteBlobs.BEGIN, new Encoder(10).varint(number));
  }

  private Decoder within(int operation, Encoder arguments) {
    blob.ensureOutside();
    if (ended) throw new IllegalStateException("the write has ended; begin another");
    return blob.blobs().within(scope, blob, operation, arguments);
  }

  private Encoder numbered(int capacity) {
    return new Encoder(capacity + 32).varint(number);
  }

  @Override
  public void write(long offset, byte[] bytes) {
    write(offset, ByteBuffer.wrap(bytes));
  }

  @Override
  public void write(long offset, ByteBuffer bytes) {
    blob.ensureWithinLimit(bytes.remaining());
    RemoteReader.ensureRange(offset, bytes.remaining());
    long at = offset;
    do {
      int count = Math.min(RemoteBlobs.PART_BYTES, bytes.remaining());
      var part = new byte[count];
      bytes.get(part);
      var _ = within(RemoteBlobs.PART, numbered(count).varint(at).raw(part));
      at += count;
    } while (bytes.hasRemaining());
  }

  @Override
  public CompletableFuture<Void> writeAsync(long offset, ByteBuffer bytes) {
    blob.ensureOutside();
    blob.ensureWithinLimit(bytes.remaining());
    RemoteReader.ensureRange(offset, bytes.remaining());
    return blob.blobs()
        .async(() -> {
          write(offset, bytes);
          return bytes;
        })
        .thenAccept(_ -> {});
  }

  @Override
  public void truncate(long size) {
    RemoteReader.ensureRange(size, 0);
    var _ = within(RemoteBlobs.PART_TRUNCATE, numbered(10).varint(size));
  }

  @Override
  public void attribute(String name, byte[] value) {
    var _ = within(RemoteBlobs.PART_ATTRIBUTE, numbered(value.length).text(name).raw(value));
  }

  @Override
  public void removeAttribute(String name) {
    var _ = within(RemoteBlobs.PART_REMOVE_ATTRIBUTE, numbered(64).text(name));
  }

  @Override
  public long commit() {
    long version = within(RemoteBlobs.COMMIT, numbered(0)).varint();
    ended = true;
    return version;
  }

  @Override
  public void close() {
    if (ended) return;
    ended = true;
    blob.blobs().end(scope, blob, number);
  }
}
