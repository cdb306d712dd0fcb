package stoa.storage.segment;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.zip.CRC32C;
import stoa.storage.disk.CorruptData;
import stoa.storage.disk.UnknownFormat;

/// Finds, verifies and visits the records of one segment, in memory that does not grow with them.
/// One owner uses it.
public final class RecordWalk {
  /*
   * The walk verifies a record in one pass over its bytes, and only then visits it in a second,
   * which reads the items' headers and the data that the visitor asks for. For a record that fits
   * the window, both passes read the file once.
   */
  private final SegmentReader reader;
  private final Segment segment;
  private final CRC32C crc = new CRC32C();
  private final Item item = new Item();
  private long badAt;
  private String bad = "";

  public RecordWalk(SegmentReader reader, Segment segment) {
    this.reader = reader;
    this.segment = segment;
  }

  /// Returns the end of the record at a file position, where the next one begins, or -1 when there
  /// is no whole and undamaged one; then [#damage] has the reason.
  public long verify(long at) throws IOException {
    if (!isHeader(at)) return bad(at, "no record begins here");
    int header = reader.need(at, RecordFormat.RECORD_HEADER);
    byte[] window = reader.window();
    int kind = window[header + 4];
    if (kind != RecordFormat.KIND_COMMIT) {
      throw new UnknownFormat(
          "%s has a record of kind %d at %d, which this program does not know: use the program that wrote it"
              .formatted(segment.name(), kind, at));
    }
    int length = RecordFormat.length(window, header);
    int items = RecordFormat.items(window, header);
    long next = at + RecordFormat.stride(window, header);
    long digest = RecordFormat.digest(window, header);
    if (length < RecordFormat.RECORD_HEADER || length > Commit.BYTES_MAX) {
      return bad(at, "the record's length is not possible");
    }
    if (next > reader.limit()) return bad(at, "the file ends within the record that begins here");
    if (length <= window.length) reader.need(at, length); // so that visiting finds it there
    long end = at + length;
    long itemAt = at + RecordFormat.RECORD_HEADER;
    long found = 0;
    for (int i = 0; i < items; i++) {
      if (end - itemAt < RecordFormat.ITEM_HEADER) return bad(itemAt, "no item fits here");
      int index = reader.need(itemAt, RecordFormat.ITEM_HEADER);
      if (index < 0) return bad(itemAt, "the file ends here");
      int sum = EncodedNumbers.getInt(reader.window(), index);
      item.set(reader.window(), index, segment.base() + itemAt);
      long stored = item.length < 0 ? -1 : RecordFormat.stored(item.kind, item.length);
      if (stored < 0 || item.kind < 0 || stored > end - itemAt - RecordFormat.ITEM_HEADER) {
        return bad(itemAt, "the item's header is damaged");
      }
      if (!isItem(itemAt, sum)) return -1;
      found = RecordFormat.digest(found, sum);
      itemAt += RecordFormat.ITEM_HEADER + stored;
    }
    if (itemAt != end || found != digest) {
      return bad(at, "the items are not those that the record was written with");
    }
    return next;
  }

  /// Returns where the record that begins at a file position ends, by its header alone; -1 when
  /// there is none.
  long next(long at) throws IOException {
    if (!isHeader(at)) return -1;
    int header = reader.need(at, RecordFormat.RECORD_HEADER);
    long stride = RecordFormat.stride(reader.window(), header);
    return stride < RecordFormat.RECORD_HEADER ? -1 : at + stride;
  }

  private boolean isHeader(long at) throws IOException {
    int header = reader.need(at, RecordFormat.RECORD_HEADER);
    return header >= 0
        && RecordFormat.isRecordHeader(crc, reader.window(), header, segment.base() + at);
  }

  private boolean isItem(long at, int sum) throws IOException {
    crc.reset();
    long covered = item.kind == RecordFormat.ITEM_DATA ? 0 : item.length;
    boolean there = reader.update(crc, at + 4, RecordFormat.ITEM_HEADER - 4 + covered);
    if (!there || (int) crc.getValue() != sum) {
      bad(at, "the item's checksum does not match");
      return false;
    }
    return item.kind != RecordFormat.ITEM_DATA || isData(at);
  }

  private boolean isData(long at) throws IOException {
    long blockAt = at + RecordFormat.ITEM_HEADER;
    int rest = item.length;
    for (int block = 0; rest > 0; block++) {
      int length = Math.min(rest, RecordFormat.BLOCK);
      crc.reset();
      boolean there = reader.update(crc, blockAt, length);
      int sumAt = there ? reader.need(blockAt + length, 4) : -1;
      int sum = (int) crc.getValue() ^ RecordFormat.mix(item.position, block);
      if (sumAt < 0 || EncodedNumbers.getInt(reader.window(), sumAt) != sum) {
        bad(blockAt, "the block's checksum does not match");
        return false;
      }
      blockAt += length + 4L;
      rest -= length;
    }
    return true;
  }

  private long bad(long at, String what) {
    badAt = at;
    bad = what;
    return -1;
  }

  /// Returns the damage that [#verify] found.
  public CorruptData damage() {
    return SegmentLog.corrupt(segment.name(), badAt, bad);
  }

  /// Visits the items of a verified record.
  public void visit(long at, long next, ItemVisitor visitor) throws IOException {
    try {
      visitItems(at, visitor);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    visitor.recordEnd(segment.base() + at, segment.base() + next);
  }

  private void visitItems(long at, ItemVisitor visitor) throws IOException {
    int items = RecordFormat.items(reader.window(), reader.need(at, RecordFormat.RECORD_HEADER));
    long itemAt = at + RecordFormat.RECORD_HEADER;
    for (int i = 0; i < items; i++) {
      int index = reader.need(itemAt, RecordFormat.ITEM_HEADER);
      item.set(reader.window(), index, segment.base() + itemAt);
      item.dataBehind(reader, itemAt + RecordFormat.ITEM_HEADER);
      long stored = RecordFormat.stored(item.kind, item.length);
      visitor.item(item);
      itemAt += RecordFormat.ITEM_HEADER + stored;
    }
  }

  /// Returns the file position, from `from` on, of the next undamaged record header, or the limit.
  public long nextHeader(long from) throws IOException {
    for (long at = from; at < reader.limit(); at += RecordFormat.ALIGNMENT) {
      int header = reader.need(at, RecordFormat.RECORD_HEADER);
      if (header < 0) break;
      if (EncodedNumbers.getInt(reader.window(), header) == RecordFormat.RECORD_MAGIC
          && isHeader(at)) {
        return at;
      }
    }
    return reader.limit();
  }

  /// Returns the end of the durable log when the record at a file position was written.
  public long durable(long at) throws IOException {
    return RecordFormat.durable(reader.window(), reader.need(at, RecordFormat.RECORD_HEADER));
  }
}
