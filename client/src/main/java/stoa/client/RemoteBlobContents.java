package stoa.client;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.BlobExtent;
import stoa.BlobVersions;
import stoa.LimitExceeded;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.front.Service;
import stoa.wire.BlobOperation;

/// The contents of a blob in a server, now or at a snapshot. Thread-safe.
abstract sealed class RemoteBlobContents implements Service.BlobContents
    permits RemoteBlob, RemoteBlobMoment {
  private static final int EXTENTS_MAX = 4_096;

  // The number of times that a read of several requests starts again because of writes between
  // them.
  private static final int READS_MAX = 16;

  abstract RemoteBlob blob();

  /// Returns 0 for the present, else the number of a snapshot.
  abstract long moment();

  private Decoder ask(BlobOperation operation, Encoder arguments) {
    return blob().blobs().ask(blob(), operation, arguments);
  }

  private Encoder then() {
    return new Encoder(48).varint(moment());
  }

  @Override
  public long version() {
    return ask(BlobOperation.VERSION, then()).varint();
  }

  @Override
  public BlobVersions versions() {
    var ranges = new ArrayList<BlobVersions.Range>();
    for (long next = 1; ; ) {
      Decoder in = ask(BlobOperation.VERSIONS, then().varint(next).varint(EXTENTS_MAX));
      int count = (int) in.varint();
      for (int i = 0; i < count; i++) {
        ranges.add(new BlobVersions.Range(in.varint(), in.varint()));
      }
      if (count < EXTENTS_MAX) return new BlobVersions(ranges);
      next = ranges.getLast().last() + 1;
    }
  }

  @Override
  public long size() {
    return ask(BlobOperation.SIZE, then()).varint();
  }

  @Override
  public byte[] read(long offset, int length) {
    if (length <= RemoteBlobs.PART_BYTES) return part(offset, length);
    for (int attempt = 1; ; attempt++) {
      long before = version();
      byte[] bytes = parts(offset, length);
      // Each part is of one moment; without a write meanwhile, all are of the same.
      if (moment() != 0 || version() == before) return bytes;
      if (attempt >= READS_MAX) {
        throw new LimitExceeded(
            length
                + " bytes of "
                + blob().key()
                + " are written faster than they can be read at once; read a snapshot, or less");
      }
    }
  }

  private byte[] parts(long offset, int length) {
    var bytes = new byte[length];
    for (int done = 0; done < length; done += RemoteBlobs.PART_BYTES) {
      int count = Math.min(RemoteBlobs.PART_BYTES, length - done);
      System.arraycopy(part(offset + done, count), 0, bytes, done, count);
    }
    return bytes;
  }

  private byte[] part(long offset, int length) {
    Decoder in = ask(BlobOperation.READ, then().varint(offset).varint(length));
    return in.raw(in.remaining());
  }

  @Override
  public void read(long offset, ByteBuffer target) {
    target.put(read(offset, target.remaining()));
  }

  @Override
  public CompletableFuture<byte[]> readAsync(long offset, int length) {
    return blob().blobs().async(() -> read(offset, length));
  }

  @Override
  public byte @Nullable [] attribute(String name) {
    Decoder in = ask(BlobOperation.ATTRIBUTE, then().text(name));
    return in.u8() == 0 ? null : in.raw(in.remaining());
  }

  @Override
  public SortedMap<String, byte[]> attributes() {
    Decoder in = ask(BlobOperation.ATTRIBUTES, then());
    var attributes = new TreeMap<String, byte[]>();
    for (long left = in.varint(); left > 0; left--) attributes.put(in.text(), in.sized());
    return attributes;
  }

  @Override
  public void history(long from, long to, Predicate<BlobExtent> visitor) {
    for (long next = from; next < to; ) {
      Decoder in = ask(BlobOperation.HISTORY, then().varint(next).varint(to).varint(EXTENTS_MAX));
      int count = (int) in.varint();
      for (int i = 0; i < count; i++) {
        var extent =
            new BlobExtent(
                in.varint(),
                in.varint(),
                in.varint(),
                in.u8() == 0 ? BlobExtent.Content.DATA : BlobExtent.Content.HOLE);
        next = extent.offset() + extent.length();
        if (!visitor.test(extent)) return;
      }
      if (count < EXTENTS_MAX) return;
    }
  }
}
