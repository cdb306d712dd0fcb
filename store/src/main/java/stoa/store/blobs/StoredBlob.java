package stoa.store.blobs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Function;
import stoa.Blob;
import stoa.BlobSnapshot;
import stoa.BlobWrite;
import stoa.LimitExceeded;
import stoa.TooOld;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.log.ByteChange;
import stoa.log.ByteObject;
import stoa.storage.ObjectReader;
import stoa.storage.ObjectSnapshot;
import stoa.storage.WriteTransaction;
import stoa.store.Target;

/// A blob of a store: what callers hold. It has no state but the generation that it means, from the
/// first call on that finds one.
///
/// Two are equal when their keys are; the hash is the same in every JVM. Thread-safe.
public final class StoredBlob extends StoredReader implements Blob {
  /// How many parts of a copy are under way at a time.
  private static final int PARTS_MAX = 8;

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
  public Blobs blobs() {
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
    ensureOutside();
    return blobs.accepted(() -> blobs.read(this, reading));
  }

  private <T> T writing(Function<ByteObject, T> writing) {
    ensureOutside();
    return blobs.write(this, writing);
  }

  private long committing(Consumer<ByteChange> changes) {
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

  @Override
  public long write(long offset, byte[] bytes) {
    return write(offset, ByteBuffer.wrap(bytes));
  }

  @Override
  public long write(long offset, ByteBuffer bytes) {
    ensureWithinLimit(bytes.remaining());
    ensureRange(offset, bytes.remaining());
    return writing(object -> object.write(offset, bytes));
  }

  @Override
  public CompletableFuture<Long> writeAsync(long offset, ByteBuffer bytes) {
    ensureOutside();
    ensureWithinLimit(bytes.remaining());
    ensureRange(offset, bytes.remaining());
    return blobs.writeAsync(this, 0, object -> object.writeAsync(offset, bytes));
  }

  /// Refuses a range before a blob is begun for it.
  static void ensureRange(long offset, long length) {
    if (offset < 0 || offset > Long.MAX_VALUE - length) {
      throw new IllegalArgumentException(
          length + " bytes at offset " + offset + " are not within 0 and 2^63 - 1");
    }
  }

  @Override
  public long truncate(long size) {
    ensureRange(size, 0);
    return committing(change -> change.truncate(size));
  }

  @Override
  public long attribute(String name, byte[] value) {
    WriteTransaction.requireAttribute(name, value);
    return committing(change -> change.attribute(name, value));
  }

  @Override
  public long removeAttribute(String name) {
    WriteTransaction.requireAttribute(name, new byte[0]);
    return committing(change -> change.removeAttribute(name));
  }

  @Override
  public BlobWrite begin() {
    return writing(object -> new StoredWrite(this, generation, begin(object)));
  }

  @Override
  public long copyFrom(InputStream from) throws IOException {
    int chunk = Math.min(CHUNK_BYTES, blobs.bytesMax());
    try (var write = begin()) {
      write.truncate(0);
      var parts = new ArrayDeque<CompletableFuture<Void>>();
      long offset = 0;
      while (true) {
        byte[] bytes = from.readNBytes(chunk);
        if (bytes.length == 0) break;
        if (parts.size() == PARTS_MAX) await(parts.remove());
        parts.add(write.writeAsync(offset, ByteBuffer.wrap(bytes)));
        offset += bytes.length;
      }
      for (CompletableFuture<Void> part : parts) await(part);
      return write.commit();
    }
  }

  private static void await(CompletableFuture<Void> part) {
    try {
      part.join();
    } catch (CompletionException failed) {
      if (failed.getCause() instanceof RuntimeException cause) throw cause;
      throw failed;
    }
  }

  @Override
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

  @Override
  public List<BlobSnapshot> snapshots() {
    return List.copyOf(kept());
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

  @Override
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

  @Override
  public boolean equals(Object other) {
    return other instanceof StoredBlob blob && blob.key().equals(key());
  }

  @Override
  public int hashCode() {
    return key().hashCode();
  }

  /// The reference, as in `stoa.Blob[films/42]`.
  @Override
  public String toString() {
    return key().toString();
  }
}
