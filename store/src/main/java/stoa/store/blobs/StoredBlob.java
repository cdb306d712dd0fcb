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
import stoa.store.running.Target;

/// A blob of a store. It has no state but the generation that it means, from the first call on that
/// finds one. Arguments are checked by the caller. Thread-safe.
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

  /// The key.
  public Key key() {
    return target.key();
  }

  /// The generation that is meant, 0 while none was found.
  public long generation() {
    return generation;
  }

  void generation(long found) {
    generation = found;
  }

  Target target() {
    return target;
  }

  /// What is expected of the key.
  Existence existence() {
    long known = generation;
    return known == 0 ? existence : new Existence.Generation(known);
  }

  @Override
  <T> T readNow(Function<ObjectReader, T> reading) {
    return blobs.read(this, object -> reading.apply(object.now()));
  }

  /// Reads of the blob, its snapshots among it.
  private <T> T readingAll(Function<ByteObject, T> reading) {
    return blobs.accepted(() -> blobs.read(this, reading));
  }

  /// Changes it, which comes to be when there is none.
  private <T> T writing(Function<ByteObject, T> writing) {
    return blobs.write(this, writing);
  }

  /// Makes a change of one version; answers it.
  public long change(Consumer<ByteChange> changes) {
    return writing(object -> {
      try (var change = begin(object)) {
        changes.accept(change);
        return change.commit();
      }
    });
  }

  private static ByteChange begin(ByteObject object) {
    try {
      return object.begin();
    } catch (IllegalStateException tooMany) {
      throw new LimitExceeded(String.valueOf(tooMany.getMessage()), tooMany);
    }
  }

  /// Writes the remaining bytes of a buffer; answers the version.
  public long write(long offset, ByteBuffer bytes) {
    return writing(object -> object.write(offset, bytes));
  }

  /// Begins to write the remaining bytes of a buffer; the future answers the version.
  public CompletableFuture<Long> writeAsync(long offset, ByteBuffer bytes) {
    return blobs.writeAsync(this, 0, object -> object.writeAsync(offset, bytes));
  }

  /// Begins a change of several parts.
  ///
  /// @throws LimitExceeded when too many are open
  public StoredWrite begin() {
    return writing(object -> new StoredWrite(this, generation, begin(object)));
  }

  /// Keeps it as it is now.
  ///
  /// @throws IllegalStateException when it has no version
  /// @throws LimitExceeded when it has too many snapshots
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

  /// The snapshots that are kept, oldest first.
  public List<StoredSnapshot> kept() {
    return readingAll(object ->
        object.snapshots().stream()
            .map(kept -> new StoredSnapshot(this, generation, object, kept.number()))
            .toList());
  }

  /// The snapshot of a number, of the generation that is meant: also one that was released, or
  /// whose blob is gone, for it to say so.
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

  /// The snapshot of a version.
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

  /// The reference, as in `stoa.Blob[films/42]`.
  @Override
  public String toString() {
    return key().toString();
  }
}
