package stoa.store.blobs;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import stoa.storage.object.ObjectReader;

/// The reads that a blob and its snapshots have in common. Thread-safe.
public abstract sealed class StoredReader permits StoredBlob, StoredSnapshot {
  StoredReader() {}

  /// Reads at one moment, in work that the store has accepted.
  abstract <T> T readNow(Function<ObjectReader, T> reading);

  abstract Blobs blobs();

  /// Reads at one moment.
  public final <T> T read(Function<ObjectReader, T> reading) {
    return blobs().accepted(() -> readNow(reading));
  }

  /// Begins to read at one moment.
  public final <T> CompletableFuture<T> readAsync(Function<ObjectReader, T> reading) {
    return blobs().acceptedAsync(() -> readNow(reading));
  }
}
