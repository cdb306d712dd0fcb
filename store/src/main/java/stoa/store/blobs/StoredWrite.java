package stoa.store.blobs;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import stoa.BlobWrite;
import stoa.log.ByteChange;

/// A write of several ranges of one generation of a blob. Thread-safe.
final class StoredWrite implements BlobWrite {
  private final StoredBlob blob;
  private final long generation;
  private final ByteChange change;

  StoredWrite(StoredBlob blob, long generation, ByteChange change) {
    this.blob = blob;
    this.generation = generation;
    this.change = change;
  }

  @Override
  public void write(long offset, byte[] bytes) {
    write(offset, ByteBuffer.wrap(bytes));
  }

  @Override
  public void write(long offset, ByteBuffer bytes) {
    ensure(offset, bytes);
    writing(() -> change.write(offset, bytes));
  }

  @Override
  public CompletableFuture<Void> writeAsync(long offset, ByteBuffer bytes) {
    ensure(offset, bytes);
    blob.ensureOutside();
    return blob.blobs().writeAsync(blob, generation, object -> change.writeAsync(offset, bytes));
  }

  private void ensure(long offset, ByteBuffer bytes) {
    blob.ensureWithinLimit(bytes.remaining());
    StoredBlob.ensureRange(offset, bytes.remaining());
  }

  @Override
  public void truncate(long size) {
    StoredBlob.ensureRange(size, 0);
    writing(() -> change.truncate(size));
  }

  @Override
  public void attribute(String name, byte[] value) {
    writing(() -> change.attribute(name, value));
  }

  @Override
  public void removeAttribute(String name) {
    writing(() -> change.removeAttribute(name));
  }

  private void writing(Runnable part) {
    blob.ensureOutside();
    blob.blobs()
        .<Boolean>write(
            blob,
            generation,
            () -> {
              part.run();
              return true;
            });
  }

  @Override
  public long commit() {
    blob.ensureOutside();
    return blob.blobs().write(blob, generation, change::commit);
  }

  @Override
  public void close() {
    change.close();
  }
}
