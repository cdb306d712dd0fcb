package stoa.store.blobs;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import stoa.log.ByteChange;

/// A write of several ranges of one generation of a blob. Thread-safe.
public final class StoredWrite {
  private final StoredBlob blob;
  private final long generation;
  private final ByteChange change;

  StoredWrite(StoredBlob blob, long generation, ByteChange change) {
    this.blob = blob;
    this.generation = generation;
    this.change = change;
  }

  /// Adds a part to the write.
  public void add(Consumer<ByteChange> part) {
    blob.blobs()
        .<Boolean>write(
            blob,
            generation,
            () -> {
              part.accept(change);
              return true;
            });
  }

  /// Begins to add a range.
  public CompletableFuture<Void> writeAsync(long offset, ByteBuffer bytes) {
    return blob.blobs().writeAsync(blob, generation, _ -> change.writeAsync(offset, bytes));
  }

  /// Makes all parts visible; returns the version.
  public long commit() {
    return blob.blobs().write(blob, generation, change::commit);
  }

  /// Gives up the write if it is not committed.
  public void close() {
    change.close();
  }
}
