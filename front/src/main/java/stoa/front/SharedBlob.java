package stoa.front;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import stoa.Blob;
import stoa.BlobSnapshot;
import stoa.BlobWrite;
import stoa.Ref;
import stoa.base.Key;

/// The caller's view of a blob, wherever its store is. Its only state is the generation that it is
/// bound to, from the first call on that finds one.
///
/// Two are equal when their keys are; the hash is the same in every JVM. Thread-safe.
public final class SharedBlob extends SharedBlobReader implements Blob {
  // The parts of a copy that are in progress at a time.
  private static final int PARTS_MAX = 8;

  private final SharedStoa stoa;
  private final Service.BlobTarget target;

  /// Creates the view of a blob of a store.
  ///
  /// @param target in that store
  public SharedBlob(SharedStoa stoa, Service.BlobTarget target) {
    this.stoa = stoa;
    this.target = target;
  }

  @Override
  SharedStoa stoa() {
    return stoa;
  }

  @Override
  Service.BlobContents contents() {
    return target;
  }

  /// Returns the key.
  public Key key() {
    return target.key();
  }

  /// Returns its reference.
  Ref<Blob> ref() {
    @SuppressWarnings("unchecked") // Justification: a blob's key has no other label
    Ref<Blob> ref = (Ref<Blob>) key().label();
    return ref;
  }

  /// Returns the generation that it is bound to, 0 before the first call that finds one.
  public long generation() {
    return target.generation();
  }

  /// Creates it.
  ///
  /// @throws stoa.AlreadyExists when it exists
  public void create() {
    target.create();
  }

  /// Returns the existing generation, 0 when there is none.
  public long found() {
    return target.found();
  }

  /// Deletes it; returns whether it existed.
  public boolean delete() {
    return target.delete();
  }

  private Service.BlobTarget changing() {
    ensureOutside();
    return target;
  }

  @Override
  public long write(long offset, byte[] bytes) {
    return write(offset, ByteBuffer.wrap(bytes));
  }

  @Override
  public long write(long offset, ByteBuffer bytes) {
    ensureRange(offset, bytes.remaining());
    return changing().write(offset, bytes);
  }

  @Override
  public CompletableFuture<Long> writeAsync(long offset, ByteBuffer bytes) {
    ensureRange(offset, bytes.remaining());
    return changing().writeAsync(offset, bytes);
  }

  @Override
  public long truncate(long size) {
    ensureSize(size);
    return changing().truncate(size);
  }

  @Override
  public long attribute(String name, byte[] value) {
    return changing().attribute(name, value);
  }

  @Override
  public long removeAttribute(String name) {
    return changing().removeAttribute(name);
  }

  @Override
  public BlobWrite begin() {
    return new SharedBlobWrite(this, changing().begin());
  }

  @Override
  public long copyFrom(InputStream from) throws IOException {
    int chunk = chunkBytes();
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
  public SharedBlobSnapshot snapshot() {
    return new SharedBlobSnapshot(this, changing().snapshot());
  }

  @Override
  public List<BlobSnapshot> snapshots() {
    return List.copyOf(kept());
  }

  /// Returns the kept snapshots, oldest first.
  public List<SharedBlobSnapshot> kept() {
    ensureOutside();
    return target.snapshots().stream().map(moment -> new SharedBlobSnapshot(this, moment)).toList();
  }

  /// Returns the snapshot of a number, of the generation that it is bound to. A snapshot that was
  /// released, or whose blob is deleted, says so when it is read.
  ///
  /// @throws IllegalStateException while no generation is known
  public SharedBlobSnapshot kept(long number) {
    return new SharedBlobSnapshot(this, target.moment(number));
  }

  @Override
  public SharedBlobSnapshot at(long version) {
    ensureOutside();
    return new SharedBlobSnapshot(this, target.at(version));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SharedBlob blob && blob.key().equals(key());
  }

  @Override
  public int hashCode() {
    return key().hashCode();
  }

  /// Returns the reference, as in `stoa.Blob[films/42]`.
  @Override
  public String toString() {
    return key().toString();
  }
}
