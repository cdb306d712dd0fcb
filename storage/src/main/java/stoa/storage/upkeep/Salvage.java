package stoa.storage.upkeep;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import stoa.storage.disk.CorruptData;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;
import stoa.storage.disk.ReadFailed;
import stoa.storage.index.Spaces;
import stoa.storage.object.ObjectNote;
import stoa.storage.segment.EncodedNumbers;
import stoa.storage.segment.RecordFormat;
import stoa.storage.segment.Segment;
import stoa.storage.segment.SegmentHeader;

/// Writes the readable part of a damaged device to another disk, from which a device can open. It
/// does not change the damaged one. One owner uses it once.
public final class Salvage {
  /*
   * Notes of the log refer to items by their log position. So salvage copies every segment byte for
   * byte. It replaces a damaged record by one of the same length at the same position: with the
   * undamaged items, each at its place, and fillers between them, which mean nothing. It does the
   * same with a record that has items to leave out. It does not copy the index: opening rebuilds
   * it.
   */
  private static final int FILLER_KIND =
      ObjectNote.ATTRIBUTE; // no item refers to it, unless a note does

  private static final int RECORD_BYTES_MAX = 32 << 20;
  private static final int COPY_BYTES = 1 << 20;

  /// Marks an item to leave out.
  public static final byte[] NOTHING = {};

  private final Disk from;
  private final Disk to;
  private final NavigableMap<Long, byte[]> changed;
  private final CRC32C crc = new CRC32C();
  private @Nullable DiskFile source;
  private @Nullable DiskFile target;
  // The number of the segment in progress; 0 for none.
  private int open;
  private final List<Survey.Known> copied = new ArrayList<>();

  private Salvage(Disk from, Disk to, NavigableMap<Long, byte[]> changed) {
    this.from = from;
    this.to = to;
    this.changed = changed;
  }

  /// Writes the readable part.
  ///
  /// @param to an empty disk
  /// @param changed by the log positions of undamaged items: their new data, of the same length, or
  ///   [#NOTHING] to leave the item out
  /// @param visitor receives the findings, as from [Survey]
  /// @throws IllegalArgumentException when the other disk is not empty
  /// @throws ReadFailed when a disk cannot be read or written
  public static void write(
      Disk from, Disk to, NavigableMap<Long, byte[]> changed, Survey.Visitor visitor) {
    var salvage = new Salvage(from, to, changed);
    try {
      if (!to.list().isEmpty()) {
        throw new IllegalArgumentException(to.place() + " is not empty; choose another directory");
      }
      try (var _ = to.hold()) {
        var _ = Survey.of(from, visitor, salvage::record);
        salvage.closeFiles(true);
        salvage.headers();
      } finally {
        salvage.closeFiles(false);
      }
      to.syncDirectory();
    } catch (IOException e) {
      throw new ReadFailed(
          "%s cannot be salvaged to %s: %s".formatted(from.place(), to.place(), e), e);
    }
  }

  @SuppressWarnings("ReferenceEquality") // NOTHING is one array, compared by identity
  private void record(
      Survey.Known known, long at, long next, @Nullable List<Survey.UndamagedItem> kept)
      throws IOException {
    if (open != known.number()) begin(known);
    long position = known.segment().base() + at;
    Long first = changed.ceilingKey(position);
    boolean changes = first != null && first < known.segment().base() + next;
    if (kept == null && !changes) {
      copy(at, next);
      return;
    }
    long bytes = next - at;
    if (kept != null && kept.isEmpty()) {
      for (long done = 0; done < bytes; ) {
        int part = part(bytes - done);
        put(at + done, record(new byte[part], position + done, List.of()));
        done += part;
      }
      return;
    }
    var region = read(at, (int) bytes);
    var all = kept == null ? items(region) : kept;
    var stay = new ArrayList<>(all);
    for (var item : all) {
      byte[] data = changed.get(position + item.at());
      if (data == NOTHING) stay.remove(item);
      else if (data != null) change(region, item, data);
    }
    put(at, record(region, position, stay));
  }

  private void change(byte[] region, Survey.UndamagedItem item, byte[] data) {
    int at = item.at() + RecordFormat.ITEM_HEADER;
    if (data.length != item.bytes() - RecordFormat.ITEM_HEADER) {
      throw new IllegalArgumentException("other data of an item has another length");
    }
    System.arraycopy(data, 0, region, at, data.length);
    int sum = RecordFormat.checksum(crc, region, item.at() + 4, item.bytes() - 4);
    EncodedNumbers.putInt(region, item.at(), sum);
  }

  /// Returns how many of the remaining bytes one record may take: it never leaves too few.
  private static int part(long left) {
    return left <= 2L * RECORD_BYTES_MAX ? (int) left : RECORD_BYTES_MAX;
  }

  private static List<Survey.UndamagedItem> items(byte[] region) {
    var items = new ArrayList<Survey.UndamagedItem>();
    int at = RecordFormat.RECORD_HEADER;
    for (int left = RecordFormat.items(region, 0); left > 0; left--) {
      int kind = region[at + 33];
      int bytes =
          RecordFormat.ITEM_HEADER
              + (int) RecordFormat.stored(kind, EncodedNumbers.getInt(region, at + 4));
      items.add(new Survey.UndamagedItem(at, bytes));
      at += bytes;
    }
    return items;
  }

  /// Returns a record of the same length as another one, with some of its items at their places.
  private byte[] record(byte[] region, long position, List<Survey.UndamagedItem> kept) {
    var out = new byte[region.length];
    int at = RecordFormat.RECORD_HEADER;
    int items = 0;
    long digest = 0;
    for (var item : kept) {
      if (item.at() > at) {
        digest = RecordFormat.digest(digest, fill(out, at, item.at()));
        items++;
      }
      System.arraycopy(region, item.at(), out, item.at(), item.bytes());
      digest = RecordFormat.digest(digest, EncodedNumbers.getInt(region, item.at()));
      items++;
      at = item.at() + item.bytes();
    }
    int gap = 0;
    if (out.length - at >= RecordFormat.ITEM_HEADER) {
      digest = RecordFormat.digest(digest, fill(out, at, out.length));
      items++;
      at = out.length;
    } else {
      gap = (int) (out.length - RecordFormat.padded(at));
    }
    RecordFormat.putRecordHeader(crc, out, at, gap, items, position, 0, digest);
    return out;
  }

  /// Puts a filler item; returns its checksum.
  private int fill(byte[] out, int at, int end) {
    int bytes = end - at - RecordFormat.ITEM_HEADER;
    RecordFormat.putItemHeader(out, at, FILLER_KIND, 0, 0, Spaces.ATTRIBUTES, 0, bytes);
    int sum = RecordFormat.checksum(crc, out, at + 4, end - at - 4);
    EncodedNumbers.putInt(out, at, sum);
    return sum;
  }

  // ---- files

  private void begin(Survey.Known known) throws IOException {
    closeFiles(true);
    var name = known.segment().name();
    source = from.open(name);
    target = to.create(name);
    open = known.number();
    copied.add(known);
    int header = known.segment().headerBytes();
    if (known.isWhole()) copy(0, header);
    else put(0, new byte[header]); // until all segments are known
  }

  private void closeFiles(boolean synced) throws IOException {
    if (source != null) source.close();
    var written = target;
    source = null;
    target = null;
    if (written == null) return;
    try (written) {
      if (synced) written.sync();
    }
  }

  /// Writes the headers anew that cannot stay: damaged ones, and the last one, which names all
  /// segments.
  private void headers() throws IOException {
    if (copied.isEmpty()) return;
    var last = copied.getLast();
    var live = new ArrayList<Segment>();
    for (var known : copied) {
      boolean isLast = known.equals(last);
      var segment = known.segment();
      if (!known.isWhole() || isLast) {
        var listed = isLast ? live : List.<Segment>of();
        var header = header(segment, listed);
        try (var file = to.open(segment.name())) {
          file.write(0, ByteBuffer.wrap(header));
          file.sync();
        }
      }
      live.add(segment);
    }
  }

  /// Returns a header of the same length as the previous one.
  private byte[] header(Segment segment, List<Segment> live) {
    var header =
        SegmentHeader.encode(segment.number(), segment.base(), live, segment.headerBytes());
    if (header.length == segment.headerBytes()) return header;
    throw new CorruptData(
        "the header of %s in %s has no room for the list of %d segments"
            .formatted(segment.name(), from.place(), live.size()));
  }

  private byte[] read(long at, int length) throws IOException {
    var bytes = new byte[length];
    // Beyond the end of a truncated file there are zeros.
    var file = java.util.Objects.requireNonNull(source);
    var buffer = ByteBuffer.wrap(bytes);
    while (buffer.hasRemaining() && file.read(at + buffer.position(), buffer) > 0) {
      // Until all is there.
    }
    return bytes;
  }

  private void copy(long start, long end) throws IOException {
    for (long at = start; at < end; at += COPY_BYTES) {
      put(at, read(at, (int) Math.min(COPY_BYTES, end - at)));
    }
  }

  private void put(long at, byte[] bytes) throws IOException {
    java.util.Objects.requireNonNull(target).write(at, ByteBuffer.wrap(bytes));
  }
}
