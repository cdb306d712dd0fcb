package stoa.front;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import stoa.BlobWrite;

/// A write of several ranges of a blob. Thread-safe.
final class SharedBlobWrite implements BlobWrite {
  private final SharedBlob blob;
  private final Service.BlobChange change;
  private volatile boolean ended;

  SharedBlobWrite(SharedBlob blob, Service.BlobChange change) {
    this.blob = blob;
    this.change = change;
  }

  private Service.BlobChange changing() {
    blob.ensureOutside();
    if (ended) {
      throw new IllegalStateException("the write of " + blob + " has ended; begin another");
    }
    return change;
  }

  @Override
  public void write(long offset, byte[] bytes) {
    write(offset, ByteBuffer.wrap(bytes));
  }

  @Override
  public void write(long offset, ByteBuffer bytes) {
    blob.ensureRange(offset, bytes.remaining());
    changing().write(offset, bytes);
  }

  @Override
  public CompletableFuture<Void> writeAsync(long offset, ByteBuffer bytes) {
    blob.ensureRange(offset, bytes.remaining());
    return changing().writeAsync(offset, bytes);
  }

  @Override
  public void truncate(long size) {
    SharedBlobReader.ensureSize(size);
    changing().truncate(size);
  }

  @Override
  public void attribute(String name, byte[] value) {
    changing().attribute(name, value);
  }

  @Override
  public void removeAttribute(String name) {
    changing().removeAttribute(name);
  }

  @Override
  public long commit() {
    long version = changing().commit();
    ended = true;
    return version;
  }

  @Override
  public void close() {
    if (ended) return;
    ended = true;
    change.close();
  }
}
