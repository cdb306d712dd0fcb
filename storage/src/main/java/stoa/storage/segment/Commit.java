package stoa.storage.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.zip.CRC32C;
import stoa.base.StreamId;

/// Extents that become visible and durable together. One thread builds it and may reuse it: it
/// keeps its buffer.
///
/// Not thread-safe; the thread that builds it passes it to
/// [Device#append][stoa.storage.Device#append(Commit)].
public final class Commit {
  /*
   * `bytes` is the record without the data of DATA items, `used` of it so far. A Part has the place
   * of such data in it; its checksums are in `sums`, one a block. The mix of a checksum depends on
   * the place in the log, so the writer adds it.
   */

  /// The largest encoded size in bytes.
  public static final int BYTES_MAX = 1 << 30;

  /// The encoded bytes of an extent beside its data.
  public static final int EXTENT_OVERHEAD_BYTES = RecordFormat.ITEM_HEADER;

  /// The most data in one DATA item.
  public static final int DATA_BYTES_MAX = 4 << 20;

  private static final int BUFFER_KEPT = 4 << 20;

  private final CRC32C crc = new CRC32C();
  private final List<Part> parts = new ArrayList<>();
  private byte[] bytes = new byte[4 << 10];
  private ByteBuffer view = ByteBuffer.wrap(bytes);
  private int used = RecordFormat.RECORD_HEADER;
  // The bytes of the parts in the log.
  private int partBytes;
  private int[] sums = new int[0];
  private int sumCount;
  private int count;
  private int trims;
  private long digest;
  private long position;

  /// The data of a DATA item.
  ///
  /// @param at its place in `bytes`
  /// @param place the beginning of its item, relative to the record
  /// @param firstSum of its blocks' checksums
  private record Part(int at, int place, ByteBuffer data, int firstSum) {}

  /// Creates an empty commit.
  public Commit() {}

  /// Empties this commit.
  public Commit clear() {
    if (bytes.length > BUFFER_KEPT) {
      bytes = new byte[4 << 10];
      view = ByteBuffer.wrap(bytes);
    }
    used = RecordFormat.RECORD_HEADER;
    partBytes = 0;
    parts.clear();
    sumCount = 0;
    count = 0;
    trims = 0;
    digest = 0;
    return this;
  }

  /// Adds `length` bytes of `data` from `from` as the extent of an object at an offset. It copies
  /// the bytes. The extent replaces an earlier one at the same object, space and offset, in this
  /// commit or an earlier one.
  ///
  /// @param space 0 to 127; each is an offset space of its own
  /// @param offset not negative
  /// @throws IllegalArgumentException when the commit would grow beyond [#BYTES_MAX]
  public Commit write(StreamId object, int space, long offset, byte[] data, int from, int length) {
    requireRecordSpace(space);
    add(RecordFormat.ITEM_RECORD, object, space, offset, data, from, length);
    return this;
  }

  /// Releases the records of an object with lower offsets than `before`: they are gone when the
  /// device has appended the commit, including those of this commit and later ones. The greatest
  /// `before` of a space counts. It costs as much as one small extent, for any number of records;
  /// their room comes back with [Device#maintain][stoa.storage.Device#maintain()].
  ///
  /// @param space 0 to 127
  /// @param before the least offset that stays; not negative
  /// @throws IllegalArgumentException when the commit would grow beyond [#BYTES_MAX]
  public Commit trim(StreamId object, int space, long before) {
    requireRecordSpace(space);
    byte[] nothing = {};
    add(RecordFormat.ITEM_TRIM, object, space, before, nothing, 0, 0);
    trims++;
    return this;
  }

  /// Adds bytes for the layer above, which receives them when the log is read again, and returns
  /// their place: the beginning of the item, relative to the record. It copies the bytes.
  ///
  /// @param kind 2 to 127; the log does not know its meaning
  /// @throws IllegalArgumentException when the commit would grow beyond [#BYTES_MAX]
  public int note(
      int kind, StreamId object, int space, long offset, byte[] data, int from, int length) {
    if (kind < RecordFormat.ITEM_NOTE_LEAST || kind > Byte.MAX_VALUE) {
      throw new IllegalArgumentException("kind is " + kind + "; that of a note is 2 to 127");
    }
    return add(kind, object, space, offset, data, from, length);
  }

  private int add(
      int kind, StreamId object, int space, long offset, byte[] data, int from, int length) {
    Objects.checkFromIndexSize(from, length, data.length);
    check(space, offset);
    int at = used;
    long next = (long) at + RecordFormat.ITEM_HEADER + length;
    makeRoom(next, partBytes);
    byte[] b = bytes;
    RecordFormat.putItemHeader(b, at, kind, object.high(), object.low(), space, offset, length);
    System.arraycopy(data, from, b, at + RecordFormat.ITEM_HEADER, length);
    added(at, RecordFormat.ITEM_HEADER - 4 + length);
    used = (int) next;
    return at + partBytes;
  }

  /// Adds the remaining bytes of `data`, at least one and at most [#DATA_BYTES_MAX], so that a
  /// reader can read and verify any part without the rest, and returns their place as [#note] does.
  /// It does not copy the bytes: they must not change until the device has appended the commit.
  ///
  /// @throws IllegalArgumentException when the commit would grow beyond [#BYTES_MAX]
  public int data(StreamId object, int space, long offset, ByteBuffer data) {
    check(space, offset);
    int length = data.remaining();
    if (length < 1 || length > DATA_BYTES_MAX) {
      throw new IllegalArgumentException(
          length + " bytes of data; one item holds 1 to " + DATA_BYTES_MAX);
    }
    int at = used;
    long next = (long) at + RecordFormat.ITEM_HEADER;
    long nextPartBytes = partBytes + RecordFormat.stored(length);
    makeRoom(next, nextPartBytes);
    RecordFormat.putItemHeader(
        bytes, at, RecordFormat.ITEM_DATA, object.high(), object.low(), space, offset, length);
    added(at, RecordFormat.ITEM_HEADER - 4);
    used = (int) next;
    int place = at + partBytes;
    parts.add(new Part(used, place, data.duplicate(), sumCount));
    addSums(data.duplicate());
    partBytes = (int) nextPartBytes;
    return place;
  }

  /// Refuses a space without records.
  public static void requireRecordSpace(int space) {
    if (space < 0 || space >= EntryOrder.VERSIONED) {
      throw new IllegalArgumentException(
          "space is %d; it must be from 0 to %d".formatted(space, EntryOrder.VERSIONED - 1));
    }
  }

  private static void check(int space, long offset) {
    if ((space & ~0xff) != 0) {
      throw new IllegalArgumentException("space is " + space + "; it must be from 0 to 255");
    }
    if (offset < 0) {
      throw new IllegalArgumentException("offset is " + offset + "; it must not be negative");
    }
  }

  private void makeRoom(long next, long nextPartBytes) {
    long total = next + nextPartBytes;
    if (total > BYTES_MAX) {
      throw new IllegalArgumentException(
          "a commit of "
              + total
              + " bytes is beyond the limit of "
              + BYTES_MAX
              + "; divide it into several commits");
    }
    if (next + RecordFormat.ALIGNMENT <= bytes.length) return;
    long room = Math.max(next + RecordFormat.ALIGNMENT, 2L * bytes.length);
    bytes = Arrays.copyOf(bytes, (int) Math.min(room, BYTES_MAX + RecordFormat.ALIGNMENT));
    view = ByteBuffer.wrap(bytes);
  }

  /// Ends an item with its checksum over `covered` bytes.
  private void added(int at, int covered) {
    int sum = RecordFormat.checksum(crc, bytes, at + 4, covered);
    EncodedNumbers.putInt(bytes, at, sum);
    digest = RecordFormat.digest(digest, sum);
    count++;
  }

  private void addSums(ByteBuffer data) {
    int blocks = RecordFormat.blocks(data.remaining());
    if (sumCount + blocks > sums.length) {
      sums = Arrays.copyOf(sums, Math.max(sumCount + blocks, 2 * sums.length));
    }
    int end = data.limit();
    while (data.position() < end) {
      data.limit(Math.min(end, data.position() + RecordFormat.BLOCK));
      crc.reset();
      crc.update(data);
      sums[sumCount++] = (int) crc.getValue();
    }
  }

  /// Returns the encoded size so far, in bytes.
  public int bytes() {
    return used + partBytes;
  }

  /// Returns the number of extents and trims.
  public int count() {
    return count;
  }

  /// Returns the number of trims.
  public int trims() {
    return trims;
  }

  /// Returns the log position of the appended record; an item's position is this plus its place.
  public long position() {
    return position;
  }

  /// Finishes the record for a place in the log.
  ///
  /// @param gap bytes of zeros that follow the padded record
  void seal(long newPosition, long durable, int gap) {
    position = newPosition;
    RecordFormat.putRecordHeader(crc, bytes, bytes(), gap, count, newPosition, durable, digest);
  }

  /// Returns whether the record is in one piece, so that [#padded] gives it.
  boolean inOnePiece() {
    return parts.isEmpty();
  }

  /// Returns the sealed record in one piece, padded.
  ByteBuffer padded() {
    int end = (int) RecordFormat.padded(used);
    Arrays.fill(bytes, used, end, (byte) 0);
    return view.clear().limit(end);
  }

  /// Writes the sealed record, piece by piece, without padding.
  void writeTo(Sink sink) throws IOException {
    int from = 0;
    for (var part : parts) {
      sink.put(bytes, from, part.at() - from);
      writeTo(sink, part);
      from = part.at();
    }
    sink.put(bytes, from, used - from);
  }

  private void writeTo(Sink sink, Part part) throws IOException {
    var data = part.data().duplicate();
    long item = position + part.place();
    int end = data.limit();
    for (int block = 0; data.position() < end; block++) {
      data.limit(Math.min(end, data.position() + RecordFormat.BLOCK));
      sink.put(data);
      sink.put(sums[part.firstSum() + block] ^ RecordFormat.mix(item, block));
    }
  }

  /// Receives a record's bytes.
  interface Sink {
    void put(byte[] source, int from, int length) throws IOException;

    /// Takes all remaining bytes.
    void put(ByteBuffer source) throws IOException;

    void put(int value) throws IOException;
  }

  /// Visits the items as appended.
  public void visit(ItemVisitor visitor) {
    var item = new Item();
    int shift = 0;
    int part = 0;
    int at = RecordFormat.RECORD_HEADER;
    for (int i = 0; i < count; i++) {
      item.set(bytes, at, position + at + shift);
      at += RecordFormat.ITEM_HEADER;
      if (item.kind == RecordFormat.ITEM_DATA) {
        shift += (int) RecordFormat.stored(parts.get(part++).data().remaining());
      } else {
        item.dataIn(bytes, at);
        at += item.length;
      }
      visitor.item(item);
    }
    visitor.recordEnd(position, position + RecordFormat.stride(bytes, 0));
  }
}
