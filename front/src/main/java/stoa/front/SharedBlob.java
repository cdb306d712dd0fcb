package stoa.front;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import stoa.Blob;
import stoa.BlobExtent;
import stoa.BlobSnapshot;
import stoa.BlobVersions;
import stoa.BlobWrite;
import stoa.LimitExceeded;
import stoa.Ref;
import stoa.base.Key;

/// The caller's view of a blob, wherever its store is. Its only state is the generation that it is
/// bound to, from the first call on that finds one.
///
/// Two are equal when their keys are; the hash is the same in every JVM. Thread-safe.
public final class SharedBlob extends SharedBlobReader implements Blob {
  // The parts of a copy that are in progress at a time.
  private static final int PARTS_MAX = 8;

  // The most ranges of versions of one request, and the most extents that a copy lists.
  private static final int RANGES_MAX = 1 << 16;
  private static final int EXTENTS_MAX = 1 << 20;

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
    return new SharedBlobWrite(this, changing().begin(0));
  }

  @Override
  public BlobWrite begin(long version) {
    if (version < 1 || version == Long.MAX_VALUE) {
      throw new IllegalArgumentException(
          "version is " + version + "; it must be from 1 to 2^63 - 2");
    }
    return new SharedBlobWrite(this, changing().begin(version));
  }

  @Override
  public void skip(BlobVersions versions) {
    if (versions.ranges().size() > RANGES_MAX) {
      throw new LimitExceeded(
          versions.ranges().size()
              + " ranges of versions at once; skip at most "
              + RANGES_MAX
              + " at a time");
    }
    if (versions.highest() > 0) changing().skip(versions);
  }

  @Override
  public BlobVersions copyMissing(Blob from) {
    BlobSnapshot moment = from.snapshot();
    try {
      BlobVersions missing = moment.versions().minus(versions());
      if (missing.highest() == 0) return missing;
      for (var version : extents(moment, missing).entrySet()) {
        copy(moment, version.getKey(), version.getValue());
      }
      List<BlobVersions.Range> ranges = missing.ranges();
      for (int i = 0; i < ranges.size(); i += RANGES_MAX) {
        skip(new BlobVersions(ranges.subList(i, Math.min(ranges.size(), i + RANGES_MAX))));
      }
      return missing;
    } finally {
      moment.release();
    }
  }

  /// Returns the extents of some versions, by version.
  private SortedMap<Long, List<BlobExtent>> extents(BlobSnapshot moment, BlobVersions versions) {
    var found = new TreeMap<Long, List<BlobExtent>>();
    int[] count = {0};
    moment.history(
        0,
        Long.MAX_VALUE,
        extent -> {
          if (!versions.contains(extent.version())) return true;
          found.computeIfAbsent(extent.version(), _ -> new ArrayList<>()).add(extent);
          return ++count[0] <= EXTENTS_MAX;
        });
    if (count[0] > EXTENTS_MAX) {
      throw new LimitExceeded(
          "the versions that "
              + this
              + " lacks have more than "
              + EXTENTS_MAX
              + " extents; copy the blob as a whole");
    }
    return found;
  }

  /// Copies the visible bytes of one version.
  private void copy(BlobSnapshot moment, long version, List<BlobExtent> extents) {
    int chunk = chunkBytes();
    try (BlobWrite write = begin(version)) {
      // The version removed all bytes behind its first hole, and then wrote some of them again. The
      // other bytes there come from other versions.
      for (BlobExtent extent : extents) {
        if (extent.content() == BlobExtent.Content.DATA) continue;
        write.truncate(extent.offset());
        break;
      }
      for (BlobExtent extent : extents) {
        if (extent.content() != BlobExtent.Content.DATA) continue;
        for (long done = 0; done < extent.length(); done += chunk) {
          long at = extent.offset() + done;
          write.write(at, moment.read(at, (int) Math.min(chunk, extent.length() - done)));
        }
      }
      var _ = write.commit();
    }
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
