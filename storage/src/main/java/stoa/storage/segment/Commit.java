package stoa.storage.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.zip.CRC32C;
import stoa.base.StreamId;

/// Extents that become visible and durable together. Built by one thread and reused: the buffer it
/// encodes into stays.
///
/// Not thread-safe; the thread that builds it hands it to
/// [Device#append][stoa.storage.Device#append(Commit)].
public final class Commit {
  /*
   * `bytes` is the record without the data of DATA items, `used` of it so far. A Part says where in it
   * such data belongs; its checksums are in `sums`, one a block. What they are disguised with depends
   * on the place in the log, so that is added while the record is written.
   */

  /// The largest encoded size in bytes.
  public static final int BYTES_MAX = 1 << 30;

  /// What each extent adds to the encoded size beside its data, in bytes.
  public static final int EXTENT_OVERHEAD_BYTES = RecordFormat.ITEM_HEADER;

  /// The most data in one DATA item.
  public static final int DATA_BYTES_MAX = 4 << 20;

  private static final int BUFFER_KEPT = 4 << 20;

  private final CRC32C crc = new CRC32C();
  private final List<Part> parts = new ArrayList<>();
  private byte[] bytes = new byte[4 << 10];
  private ByteBuffer view = ByteBuffer.wrap(bytes);
  private int used = RecordFormat.RECORD_HEADER;
  private int partBytes; // what the parts take in the log
  private int[] sums = new int[0];
  private int sumCount;
  private int count;
  private int trims;
  private long digest;
  private long position;

  /// The data of a DATA item.
  ///
  /// @param at where in `bytes` it belongs
  /// @param place where its item begins, relative to the record
  /// @param firstSum of its blocks' checksums
  private record Part(int at, int place, ByteBuffer data, int firstSum) {}

  /// An empty commit.
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

  /// Adds `length` bytes of `data` from `from` as the extent of an object at an offset. The bytes
  /// are copied. An extent at the same object, space and offset that was written before, in this
  /// commit or an earlier one, is replaced.
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
  /// commit is appended, and those that are written later too. Those of this commit are as well. A
  /// space is never trimmed back: the greatest `before` counts. It costs as much as one small
  /// extent, however many records there are; their room comes back with
  /// [Device#maintain][stoa.storage.Device#maintain()].
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

  /// Adds bytes that the layer above is given when the log is read again, and answers their place:
  /// where the item begins, relative to the record. The bytes are copied.
  ///
  /// @param kind 2 to 127; a meaning that the log does not know
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

  /// Adds the remaining bytes of `data`, at least one and at most [#DATA_BYTES_MAX], as data of
  /// which any part can be read and verified without the rest, and answers their place as [#note]
  /// does. The bytes are not copied: they must not change until the commit was appended.
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

  /// Refuses a space that has no records.
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
    Layout.putInt(bytes, at, sum);
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

  /// The encoded size so far, in bytes.
  public int bytes() {
    return used + partBytes;
  }

  /// How many extents and trims were added.
  public int count() {
    return count;
  }

  /// How many of them are trims.
  public int trims() {
    return trims;
  }

  /// The log position that the record was given when it was appended; an item's is this and its
  /// place.
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

  /// Whether the record is in one piece, so that [#padded] gives it.
  boolean inOnePiece() {
    return parts.isEmpty();
  }

  /// The sealed record in one piece, padded.
  ByteBuffer padded() {
    int end = (int) RecordFormat.padded(used);
    Arrays.fill(bytes, used, end, (byte) 0);
    return view.clear().limit(end);
  }

  /// Puts the sealed record out, piece by piece, without padding.
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

  /// Where a record's bytes go.
  interface Sink {
    void put(byte[] source, int from, int length) throws IOException;

    /// Takes all that remains.
    void put(ByteBuffer source) throws IOException;

    void put(int value) throws IOException;
  }

  /// Visits the items as they were appended.
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
