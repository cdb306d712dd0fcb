package stoa.client;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import stoa.BlobExtent;
import stoa.BlobReader;
import stoa.LimitExceeded;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.spi.CallContext;

/// What a blob and its snapshots have in common. Thread-safe.
abstract sealed class RemoteReader implements BlobReader permits RemoteBlob, RemoteBlobSnapshot {
  private static final int EXTENTS_MAX = 4_096;

  /// How often bytes that take several requests are read again, when somebody wrote between them.
  private static final int READS_MAX = 16;

  abstract RemoteBlob blob();

  /// 0 for the present, else the number of a snapshot.
  abstract long moment();

  private RemoteBlobs blobs() {
    return blob().blobs();
  }

  private Decoder ask(int operation, Encoder arguments) {
    ensureOutside();
    return blobs().ask(blob(), operation, arguments);
  }

  private Encoder then() {
    return new Encoder(48).varint(moment());
  }

  /// Refuses what a method of a shared object cannot do.
  void ensureOutside() {
    if (CallContext.CURRENT.isBound()) {
      throw new IllegalStateException(
          "a method of a shared object cannot read or write "
              + this
              + ", as that is not logged with the call; do it in the caller, and pass what the"
              + " method needs");
    }
  }

  void ensureWithinLimit(int bytes) {
    if (bytes > blobs().bytesMax()) {
      throw new LimitExceeded(
          bytes
              + " bytes of "
              + this
              + " at once; blobBytesMax is "
              + blobs().bytesMax()
              + ": do it in parts");
    }
  }

  /// Refuses a range before a blob is begun for it.
  static void ensureRange(long offset, long length) {
    if (offset < 0 || offset > Long.MAX_VALUE - length) {
      throw new IllegalArgumentException(
          length + " bytes at offset " + offset + " are not within 0 and 2^63 - 1");
    }
  }

  @Override
  public long version() {
    return ask(RemoteBlobs.VERSION, then()).varint();
  }

  @Override
  public long size() {
    return ask(RemoteBlobs.SIZE, then()).varint();
  }

  @Override
  public byte[] read(long offset, int length) {
    if (length < 0) throw new IllegalArgumentException("length is " + length + "; the least is 0");
    ensureWithinLimit(length);
    ensureRange(offset, length);
    if (length <= RemoteBlobs.PART_BYTES) return part(offset, length);
    for (int attempt = 1; ; attempt++) {
      long before = version();
      byte[] bytes = parts(offset, length);
      // Each part is of one moment; all are when nobody wrote meanwhile.
      if (moment() != 0 || version() == before) return bytes;
      if (attempt >= READS_MAX) {
        throw new LimitExceeded(
            length
                + " bytes of "
                + this
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
    Decoder in = ask(RemoteBlobs.READ, then().varint(offset).varint(length));
    return in.raw(in.remaining());
  }

  @Override
  public void read(long offset, ByteBuffer target) {
    target.put(read(offset, target.remaining()));
  }

  @Override
  public CompletableFuture<byte[]> readAsync(long offset, int length) {
    ensureOutside();
    if (length < 0) throw new IllegalArgumentException("length is " + length + "; the least is 0");
    ensureWithinLimit(length);
    return blobs().async(() -> read(offset, length));
  }

  @Override
  public Optional<byte[]> attribute(String name) {
    Decoder in = ask(RemoteBlobs.ATTRIBUTE, then().text(name));
    return in.u8() == 0 ? Optional.empty() : Optional.of(in.raw(in.remaining()));
  }

  @Override
  public SortedMap<String, byte[]> attributes() {
    Decoder in = ask(RemoteBlobs.ATTRIBUTES, then());
    var attributes = new TreeMap<String, byte[]>();
    for (long left = in.varint(); left > 0; left--) attributes.put(in.text(), in.sized());
    return attributes;
  }

  @Override
  public List<BlobExtent> history() {
    var all = new ArrayList<BlobExtent>();
    history(0, Long.MAX_VALUE, all::add);
    return all;
  }

  @Override
  public void history(long from, long to, Predicate<BlobExtent> visitor) {
    if (from < 0) throw new IllegalArgumentException("from is " + from + "; the least is 0");
    for (long next = from; next < to; ) {
      Decoder in = ask(RemoteBlobs.HISTORY, then().varint(next).varint(to).varint(EXTENTS_MAX));
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

  @Override
  public long copyTo(OutputStream to) throws IOException {
    long size = size();
    int chunk = Math.min(RemoteBlobs.PART_BYTES, blobs().bytesMax());
    for (long offset = 0; offset < size; offset += chunk) {
      to.write(read(offset, (int) Math.min(chunk, size - offset)));
    }
    return size;
  }
}
