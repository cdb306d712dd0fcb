package stoa.client;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import stoa.Blob;
import stoa.BlobSnapshot;
import stoa.BlobWrite;
import stoa.Gone;
import stoa.Ref;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.front.types.Keys;

/// A blob in a server: what callers hold. It has no state but the generation that it means, from
/// the first call on that finds one.
///
/// Two are equal when their references are; the hash is the same in every JVM. Thread-safe.
final class RemoteBlob extends RemoteReader implements Blob {
  private final RemoteBlobs blobs;
  private final Ref<Blob> ref;
  private final byte[] key;
  private volatile long generation;

  RemoteBlob(RemoteBlobs blobs, Ref<Blob> ref, byte[] key, long generation) {
    this.blobs = blobs;
    this.ref = ref;
    this.key = key;
    this.generation = generation;
  }

  RemoteBlobs blobs() {
    return blobs;
  }

  Ref<Blob> ref() {
    return ref;
  }

  byte[] key() {
    return key;
  }

  long generation() {
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

  void create() {
    var _ = blobs.write(this, RemoteBlobs.CREATE, nothing());
  }

  /// The generation that is there, 0 when there is none.
  long found() {
    return blobs.ask(this, RemoteBlobs.GENERATION, nothing()).varint();
  }

  boolean delete() {
    try {
      return blobs.write(this, RemoteBlobs.DELETE, nothing()).u8() != 0;
    } catch (Gone gone) {
      return false;
    }
  }

  private long writing(int operation, Encoder arguments) {
    ensureOutside();
    return blobs.write(this, operation, arguments).varint();
  }

  @Override
  public long write(long offset, byte[] bytes) {
    return write(offset, ByteBuffer.wrap(bytes));
  }

  @Override
  public long write(long offset, ByteBuffer bytes) {
    int length = bytes.remaining();
    ensureWithinLimit(length);
    ensureRange(offset, length);
    if (length > RemoteBlobs.PART_BYTES) {
      try (BlobWrite write = begin()) {
        write.write(offset, bytes);
        return write.commit();
      }
    }
    return writing(RemoteBlobs.WRITE, range(offset, bytes));
  }

  static Encoder range(long offset, ByteBuffer bytes) {
    var copy = new byte[bytes.remaining()];
    bytes.get(copy);
    return new Encoder(copy.length + 24).varint(offset).raw(copy);
  }

  @Override
  public CompletableFuture<Long> writeAsync(long offset, ByteBuffer bytes) {
    ensureOutside();
    ensureWithinLimit(bytes.remaining());
    ensureRange(offset, bytes.remaining());
    if (bytes.remaining() > RemoteBlobs.PART_BYTES) {
      return RemoteBlobWrite.whole(this, offset, bytes);
    }
    return blobs.writeAsync(this, range(offset, bytes));
  }

  @Override
  public long truncate(long size) {
    ensureRange(size, 0);
    return writing(RemoteBlobs.TRUNCATE, new Encoder(10).varint(size));
  }

  @Override
  public long attribute(String name, byte[] value) {
    return writing(RemoteBlobs.SET_ATTRIBUTE, new Encoder(value.length + 64).text(name).raw(value));
  }

  @Override
  public long removeAttribute(String name) {
    return writing(RemoteBlobs.REMOVE_ATTRIBUTE, new Encoder(64).text(name));
  }

  @Override
  public BlobWrite begin() {
    ensureOutside();
    return RemoteBlobWrite.begin(this);
  }

  @Override
  public long copyFrom(InputStream from) throws IOException {
    int chunk = Math.min(RemoteBlobs.PART_BYTES, blobs.bytesMax());
    try (BlobWrite write = begin()) {
      write.truncate(0);
      long offset = 0;
      while (true) {
        byte[] bytes = from.readNBytes(chunk);
        if (bytes.length == 0) return write.commit();
        write.write(offset, bytes);
        offset += bytes.length;
      }
    }
  }

  @Override
  public BlobSnapshot snapshot() {
    return new RemoteBlobSnapshot(this, writing(RemoteBlobs.SNAPSHOT, nothing()));
  }

  @Override
  public List<BlobSnapshot> snapshots() {
    ensureOutside();
    Decoder in = blobs.ask(this, RemoteBlobs.SNAPSHOTS, nothing());
    var all = new ArrayList<BlobSnapshot>();
    for (long left = in.varint(); left > 0; left--) {
      all.add(new RemoteBlobSnapshot(this, in.varint()));
    }
    return all;
  }

  @Override
  public BlobSnapshot at(long version) {
    ensureOutside();
    var number = blobs.ask(this, RemoteBlobs.AT, new Encoder(10).varint(version)).varint();
    return new RemoteBlobSnapshot(this, number);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RemoteBlob blob && blob.ref.equals(ref);
  }

  @Override
  public int hashCode() {
    return java.util.Arrays.hashCode(Keys.encode(ref.key()));
  }

  /// The reference, as in `stoa.Blob[films/42]`.
  @Override
  public String toString() {
    return ref.toString();
  }
}
