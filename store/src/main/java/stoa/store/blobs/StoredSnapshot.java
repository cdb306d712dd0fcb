package stoa.store.blobs;

import java.util.function.Function;
import stoa.TooOld;
import stoa.log.ByteObject;
import stoa.storage.object.ObjectReader;

/// A snapshot of a generation of a blob. Thread-safe.
public final class StoredSnapshot extends StoredReader {
  private final StoredBlob blob;
  private final long generation;
  private final ByteObject object;
  private final long number;

  StoredSnapshot(StoredBlob blob, long generation, ByteObject object, long number) {
    this.blob = blob;
    this.generation = generation;
    this.object = object;
    this.number = number;
  }

  /// Returns the number with which [StoredBlob#kept(long)] finds the snapshot again.
  public long number() {
    return number;
  }

  @Override
  Blobs blobs() {
    return blob.blobs();
  }

  @Override
  <T> T readNow(Function<ObjectReader, T> reading) {
    return blobs()
        .read(
            blob,
            generation,
            () -> {
              try {
                return reading.apply(object.at(number));
              } catch (IllegalStateException failure) {
                if (isKept()) throw failure;
                blobs().ensureAlive(blob, generation);
                throw new TooOld(this + " was released; make another", failure);
              }
            });
  }

  private boolean isKept() {
    return object.snapshots().stream().anyMatch(kept -> kept.number() == number);
  }

  /// Releases the snapshot, unless it was released before.
  public void release() {
    blobs()
        .<Boolean>write(
            blob,
            generation,
            () -> {
              object.release(number);
              return true;
            });
  }

  @Override
  public String toString() {
    return "snapshot " + number + " of " + blob;
  }
}
