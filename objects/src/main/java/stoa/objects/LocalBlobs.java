package stoa.objects;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.Blob;
import stoa.BlobExtent;
import stoa.BlobVersions;
import stoa.Ref;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.front.Service;
import stoa.front.SharedBlob;
import stoa.front.marshal.Marshaller;
import stoa.front.types.Keys;
import stoa.storage.object.ObjectReader;
import stoa.storage.object.VersionRange;
import stoa.storage.object.VersionState;
import stoa.storage.object.WriteTransaction;
import stoa.store.blobs.Blobs;
import stoa.store.blobs.StoredBlob;
import stoa.store.blobs.StoredReader;
import stoa.store.blobs.StoredSnapshot;
import stoa.store.blobs.StoredWrite;

/// The port to the blobs of a store in this process. Thread-safe.
final class LocalBlobs implements Service.Blobs {
  private final Marshaller marshaller;
  private final Blobs blobs;
  private final @Nullable String refusal;
  private final int bytesMax;

  /// @param refusal why the store has no blobs; null when it has
  /// @param bytesMax the most bytes of one read or write
  LocalBlobs(Marshaller marshaller, Blobs blobs, @Nullable String refusal, int bytesMax) {
    this.marshaller = marshaller;
    this.blobs = blobs;
    this.refusal = refusal;
    this.bytesMax = bytesMax;
  }

  @Override
  public int bytesMax() {
    return bytesMax;
  }

  @Override
  public Service.BlobTarget asked(Object key) {
    marshaller.register(SharedBlob.class);
    return at(key, 0);
  }

  @Override
  public Service.BlobTarget reference(Object key, long generation) {
    marshaller.register(SharedBlob.class);
    return new One(blobs.blob(key(key), new Existence.Undeleted(null), generation));
  }

  /// Returns a blob for a client. The client states the generation.
  Service.BlobTarget at(Object key, long generation) {
    if (refusal != null) throw new UnsupportedOperationException(refusal);
    return new One(blobs.blob(key(key), new Existence.Any(null), generation));
  }

  @Override
  public Iterator<byte[]> names() {
    return blobs.list();
  }

  /// Returns the key of a blob.
  Key key(Object key) {
    return new Key(blobs.space(), Keys.encode(key), new Ref<Blob>(blobs.space(), key));
  }

  private abstract static class Contents implements Service.BlobContents {
    private final StoredReader reader;

    private Contents(StoredReader reader) {
      this.reader = reader;
    }

    @Override
    public long version() {
      return reader.read(object -> object.versionState().highest());
    }

    @Override
    public BlobVersions versions() {
      var ranges = new ArrayList<BlobVersions.Range>();
      for (VersionRange range : reader.read(ObjectReader::versionState).ranges()) {
        ranges.add(new BlobVersions.Range(range.first(), range.last()));
      }
      return new BlobVersions(ranges);
    }

    @Override
    public long size() {
      return reader.read(ObjectReader::size);
    }

    @Override
    public byte[] read(long offset, int length) {
      return reader.read(object -> object.read(offset, length));
    }

    @Override
    public void read(long offset, ByteBuffer target) {
      reader.<Boolean>read(object -> {
        object.read(offset, target);
        return true;
      });
    }

    @Override
    public CompletableFuture<byte[]> readAsync(long offset, int length) {
      return reader.readAsync(object -> object.read(offset, length));
    }

    @Override
    public byte @Nullable [] attribute(String name) {
      return reader.read(object -> Optional.ofNullable(object.attribute(name))).orElse(null);
    }

    @Override
    public SortedMap<String, byte[]> attributes() {
      return reader.read(ObjectReader::attributes);
    }

    @Override
    public void history(long from, long to, Predicate<BlobExtent> visitor) {
      reader.<Boolean>read(object -> {
        object.history(from, to, covered -> visitor.test(extent(covered)));
        return true;
      });
    }

    private static BlobExtent extent(ObjectReader.CoveredBytes covered) {
      var content =
          switch (covered.content()) {
            case DATA -> BlobExtent.Content.DATA;
            case HOLE -> BlobExtent.Content.HOLE;
          };
      return new BlobExtent(covered.offset(), covered.length(), covered.version(), content);
    }
  }

  private final class One extends Contents implements Service.BlobTarget {
    private final StoredBlob blob;

    private One(StoredBlob blob) {
      super(blob);
      this.blob = blob;
    }

    @Override
    public Key key() {
      return blob.key();
    }

    @Override
    public long generation() {
      return blob.generation();
    }

    @Override
    public void create() {
      blobs.create(blob);
    }

    @Override
    public long found() {
      return blobs.generation(blob.key());
    }

    @Override
    public boolean delete() {
      return blobs.delete(blob);
    }

    @Override
    public long write(long offset, ByteBuffer bytes) {
      return blob.write(offset, bytes);
    }

    @Override
    public CompletableFuture<Long> writeAsync(long offset, ByteBuffer bytes) {
      return blob.writeAsync(offset, bytes);
    }

    @Override
    public long truncate(long size) {
      return blob.change(change -> change.truncate(size));
    }

    @Override
    public long attribute(String name, byte[] value) {
      // Checked before the call creates the blob.
      WriteTransaction.requireAttribute(name, value);
      return blob.change(change -> change.attribute(name, value));
    }

    @Override
    public long removeAttribute(String name) {
      WriteTransaction.requireAttribute(name, new byte[0]);
      return blob.change(change -> change.removeAttribute(name));
    }

    @Override
    public Service.BlobChange begin(long version) {
      return new Change(blob.begin(version));
    }

    @Override
    public void skip(BlobVersions versions) {
      var ranges = new ArrayList<VersionRange>();
      for (BlobVersions.Range range : versions.ranges()) {
        ranges.add(new VersionRange(range.first(), range.last()));
      }
      blob.skip(VersionState.of(ranges));
    }

    @Override
    public Service.BlobMoment snapshot() {
      return new Moment(blob.snapshot());
    }

    @Override
    public List<Service.BlobMoment> snapshots() {
      return blob.kept().stream().<Service.BlobMoment>map(Moment::new).toList();
    }

    @Override
    public Service.BlobMoment at(long version) {
      return new Moment(blob.at(version));
    }

    @Override
    public Service.BlobMoment moment(long number) {
      return new Moment(blob.kept(number));
    }
  }

  private static final class Moment extends Contents implements Service.BlobMoment {
    private final StoredSnapshot snapshot;

    private Moment(StoredSnapshot snapshot) {
      super(snapshot);
      this.snapshot = snapshot;
    }

    @Override
    public long number() {
      return snapshot.number();
    }

    @Override
    public void release() {
      snapshot.release();
    }
  }

  private record Change(StoredWrite write) implements Service.BlobChange {
    @Override
    public void write(long offset, ByteBuffer bytes) {
      write.add(change -> change.write(offset, bytes));
    }

    @Override
    public CompletableFuture<Void> writeAsync(long offset, ByteBuffer bytes) {
      return write.writeAsync(offset, bytes);
    }

    @Override
    public void truncate(long size) {
      write.add(change -> change.truncate(size));
    }

    @Override
    public void attribute(String name, byte[] value) {
      write.add(change -> change.attribute(name, value));
    }

    @Override
    public void removeAttribute(String name) {
      write.add(change -> change.removeAttribute(name));
    }

    @Override
    public long commit() {
      return write.commit();
    }

    @Override
    public void close() {
      write.close();
    }
  }
}
