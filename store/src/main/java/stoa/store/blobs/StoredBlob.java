package stoa.store.blobs;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import stoa.LimitExceeded;
import stoa.TooOld;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.log.ByteChange;
import stoa.log.ByteObject;
import stoa.storage.object.ObjectReader;
import stoa.storage.object.ObjectSnapshot;
import stoa.storage.object.VersionState;
import stoa.store.running.Target;

/// A blob of a store. Its only state is the generation that it uses, from the first call on that
/// finds one. The caller checks arguments. Thread-safe.
public final class StoredBlob extends StoredReader {
  private final Blobs blobs;
  private final Target target;
  private final Existence existence;
  private volatile long generation;

  StoredBlob(Blobs blobs, Target target, Existence existence, long generation) {
    this.blobs = blobs;
    this.target = target;
    this.existence = existence;
    this.generation = generation;
  }

  @Override
  Blobs blobs() {
    return blobs;
  }

  /// Returns the key.
  public Key key() {
    return target.key();
  }

  /// Returns the generation that this uses, 0 while it has found none.
  public long generation() {
    return generation;
  }

  void generation(long found) {
    generation = found;
  }

  Target target() {
    return target;
  }

  /// Returns the expectation of the key.
  Existence existence() {
    long known = generation;
    return known == 0 ? existence : new Existence.Generation(known);
  }

  @Override
  <T> T readNow(Function<ObjectReader, T> reading) {
    return blobs.read(this, object -> reading.apply(object.now()));
  }

  /// Reads from the blob, including its snapshots.
  private <T> T readingAll(Function<ByteObject, T> reading) {
    return blobs.accepted(() -> blobs.read(this, reading));
  }

  /// Changes the blob; creates it first when it does not exist.
  private <T> T writing(Function<ByteObject, T> writing) {
    return blobs.write(this, writing);
  }

  /// Makes a change of one version; returns that version.
  public long change(Consumer<ByteChange> changes) {
    return writing(object -> {
      try (var change = begin(object, 0)) {
        changes.accept(change);
        return change.commit();
      }
    });
  }

  private static ByteChange begin(ByteObject object, long version) {
    try {
      return object.begin(version);
    } catch (IllegalStateException tooMany) {
      throw new LimitExceeded(String.valueOf(tooMany.getMessage()), tooMany);
    }
  }

  /// Writes the remaining bytes of a buffer; returns the version.
  public long write(long offset, ByteBuffer bytes) {
    return writing(object -> object.write(offset, bytes));
  }

  /// Begins to write the remaining bytes of a buffer; the future completes with the version.
  public CompletableFuture<Long> writeAsync(long offset, ByteBuffer bytes) {
    return blobs.writeAsync(this, 0, object -> object.writeAsync(offset, bytes));
  }

  /// Begins a change of several parts.
  ///
  /// @param version that the caller chooses; 0 for the next one
  /// @throws LimitExceeded when too many changes are open
  public StoredWrite begin(long version) {
    return writing(object -> new StoredWrite(this, generation, begin(object, version)));
  }

  /// Counts versions as written.
  public void skip(VersionState versions) {
    this.<Boolean>writing(object -> {
      object.skip(versions);
      return true;
    });
  }

  /// Takes a snapshot of the present blob.
  ///
  /// @throws IllegalStateException when the blob has no version
  /// @throws LimitExceeded when the blob has too many snapshots
  public StoredSnapshot snapshot() {
    return writing(object -> {
      if (!object.now().exists()) {
        throw new IllegalStateException(this + " has no version yet; write to it first");
      }
      try {
        return new StoredSnapshot(this, generation, object, object.snapshot());
      } catch (IllegalStateException tooMany) {
        throw new LimitExceeded(
            this + " has as many snapshots as it may; release some: " + tooMany.getMessage(),
            tooMany);
      }
    });
  }

  /// Returns the snapshots that are kept, oldest first.
  public List<StoredSnapshot> kept() {
    return readingAll(object ->
        object.snapshots().stream()
            .map(kept -> new StoredSnapshot(this, generation, object, kept.number()))
            .toList());
  }

  /// Returns the snapshot with a number, of the generation that this uses. The result may be a
  /// snapshot that was released, or whose blob is gone; its methods then fail.
  ///
  /// @throws IllegalStateException while no generation is known
  public StoredSnapshot kept(long number) {
    long known = generation;
    if (known == 0) {
      throw new IllegalStateException(
          "snapshot " + number + " of " + this + " is of a generation; say which");
    }
    return blobs.snapshot(this, known, number);
  }

  /// Returns the snapshot of a version.
  ///
  /// @throws TooOld when there is none
  public StoredSnapshot at(long version) {
    return readingAll(object -> {
      for (ObjectSnapshot kept : object.snapshots().reversed()) {
        if (kept.versionState().highest() == version) {
          return new StoredSnapshot(this, generation, object, kept.number());
        }
      }
      throw new TooOld(
          "no snapshot keeps version "
              + version
              + " of "
              + this
              + "; make one while it is the last");
    });
  }

  /// Returns the reference, as in `stoa.Blob[films/42]`.
  @Override
  public String toString() {
    return key().toString();
  }
}
