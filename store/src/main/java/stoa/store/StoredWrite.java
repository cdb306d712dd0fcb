package stoa.store;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import stoa.BlobWrite;
import stoa.storage.WriteTransaction;

/// A write of several ranges of one generation of a blob. Thread-safe.
final class StoredWrite implements BlobWrite {
  private final StoredBlob blob;
  private final long generation;
  private final WriteTransaction transaction;

  StoredWrite(StoredBlob blob, long generation, WriteTransaction transaction) {
    this.blob = blob;
    this.generation = generation;
    this.transaction = transaction;
  }

  @Override
  public void write(long offset, byte[] bytes) {
    write(offset, ByteBuffer.wrap(bytes));
  }

  @Override
  public void write(long offset, ByteBuffer bytes) {
    ensure(offset, bytes);
    writing(() -> transaction.write(offset, bytes));
  }

  @Override
  public CompletableFuture<Void> writeAsync(long offset, ByteBuffer bytes) {
    ensure(offset, bytes);
    blob.ensureOutside();
    return blob.blobs()
        .writeAsync(blob, generation, object -> transaction.writeAsync(offset, bytes));
  }

  private void ensure(long offset, ByteBuffer bytes) {
    blob.ensureWithinLimit(bytes.remaining());
    StoredBlob.ensureRange(offset, bytes.remaining());
  }

  @Override
  public void truncate(long size) {
    StoredBlob.ensureRange(size, 0);
    writing(() -> transaction.truncate(size));
  }

  @Override
  public void attribute(String name, byte[] value) {
    writing(() -> transaction.attribute(name, value));
  }

  @Override
  public void removeAttribute(String name) {
    writing(() -> transaction.removeAttribute(name));
  }

  private void writing(Runnable change) {
    blob.ensureOutside();
    blob.blobs()
        .<Boolean>write(
            blob,
            generation,
            () -> {
              change.run();
              return true;
            });
  }

  @Override
  public long commit() {
    writing(transaction::commit);
    return transaction.version();
  }

  @Override
  public void close() {
    transaction.close();
  }
}
