package stoa.client;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import stoa.BlobVersions;
import stoa.Gone;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.front.Service;
import stoa.wire.BlobOperation;

/// A blob in a server. Its only state is the generation that it is bound to, from the first call on
/// that finds one. Thread-safe.
final class RemoteBlob extends RemoteBlobContents implements Service.BlobTarget {
  private final RemoteBlobs blobs;
  private final Key key;
  private volatile long generation;

  RemoteBlob(RemoteBlobs blobs, Key key, long generation) {
    this.blobs = blobs;
    this.key = key;
    this.generation = generation;
  }

  RemoteBlobs blobs() {
    return blobs;
  }

  @Override
  public Key key() {
    return key;
  }

  @Override
  public long generation() {
    return generation;
  }

  void bind(long found) {
    if (generation == 0) generation = found;
  }

  @Override
  RemoteBlob blob() {
    return this;
  }

  @Override
  long moment() {
    return 0;
  }

  private static Encoder nothing() {
    return new Encoder(0);
  }

  @Override
  public void create() {
    var _ = blobs.write(this, BlobOperation.CREATE, nothing());
  }

  @Override
  public long found() {
    return blobs.ask(this, BlobOperation.GENERATION, nothing()).varint();
  }

  @Override
  public boolean delete() {
    try {
      return blobs.write(this, BlobOperation.DELETE, nothing()).u8() != 0;
    } catch (Gone gone) {
      return false;
    }
  }

  private long writing(BlobOperation operation, Encoder arguments) {
    return blobs.write(this, operation, arguments).varint();
  }

  @Override
  public long write(long offset, ByteBuffer bytes) {
    if (bytes.remaining() <= RemoteBlobs.PART_BYTES) {
      return writing(BlobOperation.WRITE, range(offset, bytes));
    }
    RemoteBlobChange whole = RemoteBlobChange.begin(this, 0);
    boolean committed = false;
    try {
      whole.write(offset, bytes);
      long version = whole.commit();
      committed = true;
      return version;
    } finally {
      if (!committed) whole.close();
    }
  }

  private static Encoder range(long offset, ByteBuffer bytes) {
    var copy = new byte[bytes.remaining()];
    bytes.get(copy);
    return new Encoder(copy.length + 24).varint(offset).raw(copy);
  }

  @Override
  public CompletableFuture<Long> writeAsync(long offset, ByteBuffer bytes) {
    return bytes.remaining() > RemoteBlobs.PART_BYTES
        ? RemoteBlobChange.whole(this, offset, bytes)
        : blobs.writeAsync(this, range(offset, bytes));
  }

  @Override
  public long truncate(long size) {
    return writing(BlobOperation.TRUNCATE, new Encoder(10).varint(size));
  }

  @Override
  public long attribute(String name, byte[] value) {
    return writing(
        BlobOperation.SET_ATTRIBUTE, new Encoder(value.length + 64).text(name).raw(value));
  }

  @Override
  public long removeAttribute(String name) {
    return writing(BlobOperation.REMOVE_ATTRIBUTE, new Encoder(64).text(name));
  }

  @Override
  public Service.BlobChange begin(long version) {
    return RemoteBlobChange.begin(this, version);
  }

  @Override
  public void skip(BlobVersions versions) {
    var arguments = new Encoder(20 * versions.ranges().size() + 10);
    arguments.varint(versions.ranges().size());
    for (BlobVersions.Range range : versions.ranges()) {
      arguments.varint(range.first()).varint(range.last());
    }
    var _ = blobs.write(this, BlobOperation.SKIP, arguments);
  }

  @Override
  public RemoteBlobMoment snapshot() {
    return moment(writing(BlobOperation.SNAPSHOT, nothing()));
  }

  @Override
  public List<Service.BlobMoment> snapshots() {
    Decoder in = blobs.ask(this, BlobOperation.SNAPSHOTS, nothing());
    var all = new ArrayList<Service.BlobMoment>();
    for (long left = in.varint(); left > 0; left--) all.add(moment(in.varint()));
    return all;
  }

  @Override
  public RemoteBlobMoment at(long version) {
    return moment(blobs.ask(this, BlobOperation.AT, new Encoder(10).varint(version)).varint());
  }

  @Override
  public RemoteBlobMoment moment(long number) {
    return new RemoteBlobMoment(this, number);
  }
}
