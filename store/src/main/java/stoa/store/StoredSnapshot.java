package stoa.store;

import java.util.function.Function;
import stoa.BlobSnapshot;
import stoa.TooOld;
import stoa.storage.ObjectReader;
import stoa.storage.ObjectSnapshot;
import stoa.storage.VersionedObject;

/// A snapshot of a generation of a blob. Thread-safe.
public final class StoredSnapshot extends StoredReader implements BlobSnapshot {
  private final StoredBlob blob;
  private final long generation;
  private final VersionedObject object;
  private final ObjectSnapshot snapshot;

  StoredSnapshot(
      StoredBlob blob, long generation, VersionedObject object, ObjectSnapshot snapshot) {
    this.blob = blob;
    this.generation = generation;
    this.object = object;
    this.snapshot = snapshot;
  }

  /// The number by which [StoredBlob#kept(long)] finds it again.
  public long number() {
    return snapshot.number();
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
                return reading.apply(snapshot);
              } catch (IllegalStateException failure) {
                if (isKept()) throw failure;
                blobs().ensureAlive(blob, generation);
                throw new TooOld(this + " was released; make another", failure);
              }
            });
  }

  private boolean isKept() {
    return object.snapshots().stream().anyMatch(kept -> kept.number() == snapshot.number());
  }

  @Override
  public void release() {
    ensureOutside();
    blobs()
        .<Boolean>write(
            blob,
            generation,
            () -> {
              snapshot.release();
              return true;
            });
  }

  @Override
  public String toString() {
    return "snapshot " + snapshot.number() + " of " + blob;
  }
}
