package stoa.store.blobs;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import stoa.storage.object.ObjectReader;

/// What a blob and its snapshots have in common. Thread-safe.
public abstract sealed class StoredReader permits StoredBlob, StoredSnapshot {
  StoredReader() {}

  /// Reads one moment, within what the store has accepted.
  abstract <T> T readNow(Function<ObjectReader, T> reading);

  abstract Blobs blobs();

  /// Reads one moment.
  public final <T> T read(Function<ObjectReader, T> reading) {
    return blobs().accepted(() -> readNow(reading));
  }

  /// Begins to read one moment.
  public final <T> CompletableFuture<T> readAsync(Function<ObjectReader, T> reading) {
    return blobs().acceptedAsync(() -> readNow(reading));
  }
}
