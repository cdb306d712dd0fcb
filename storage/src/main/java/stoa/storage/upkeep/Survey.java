package stoa.storage.upkeep;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.storage.disk.CorruptData;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.DirectIo;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;
import stoa.storage.disk.ReadFailed;
import stoa.storage.disk.UnknownFormat;
import stoa.storage.index.Manifest;
import stoa.storage.index.Run;
import stoa.storage.index.RunFormat;
import stoa.storage.object.ObjectNote;
import stoa.storage.segment.EncodedNumbers;
import stoa.storage.segment.Item;
import stoa.storage.segment.ItemVisitor;
import stoa.storage.segment.RecordFormat;
import stoa.storage.segment.RecordWalk;
import stoa.storage.segment.Segment;
import stoa.storage.segment.SegmentFiles;
import stoa.storage.segment.SegmentHeader;
import stoa.storage.segment.SegmentLog;
import stoa.storage.segment.SegmentReader;

/// Reads the files of a device without an opener, verifies every record of its log and every block
/// of its index, and reports contents and damages. Changes nothing.
///
/// [Device#scrub][stoa.storage.Device#scrub()] verifies an open device; this one also reads a
/// device that cannot open because it is damaged, and continues after the damage. One owner uses
/// it.
public final class Survey {
  /*
   * A damaged record reaches to the next undamaged record header. Within it the survey reads the
   * items one after the other, as long as each determines the beginning of the next one: it skips a
   * damaged item only when a whole one, or the end of the record, is where that should end. So it
   * never takes a caller's data for a record or an item.
   */

  /// Receives the findings, in the order of the log.
  public interface Visitor {
    /// Receives an undamaged item.
    ///
    /// @param bytes returns its data; empty for the data of versioned objects
    void item(Place place, Bytes bytes) throws IOException;

    /// Receives a damage.
    void damage(Damage damage);

    /// Receives the progress of the survey.
    ///
    /// @param bytes the bytes read so far
    /// @param of all bytes
    default void progress(long bytes, long of) {}
  }

  /// Returns the data of an item, during the call.
  @FunctionalInterface
  public interface Bytes {
    /// Returns a copy.
    byte[] get() throws IOException;
  }

  /// The identity of an item.
  ///
  /// @param sort its sort
  /// @param object its object
  /// @param space its space of the object, of a record
  /// @param offset its offset there
  /// @param bytes the length of its data
  /// @param position its log position
  public record Place(
      Sort sort, StreamId object, int space, long offset, int bytes, long position) {}

  /// The sorts of items in the log.
  public enum Sort {
    /// Bytes of a record space.
    RECORD,
    /// Bytes of a versioned object.
    DATA,
    /// The release of a record space below an offset.
    TRIM,
    /// An event of a versioned object.
    NOTE
  }

  /// A damaged part.
  ///
  /// @param file its file
  /// @param at its place in the file
  /// @param bytes the number of bytes lost with it
  /// @param what the damage
  /// @param items the items there, as far as they are known: the damage may be in their identities
  public record Damage(String file, long at, long bytes, String what, List<Place> items) {
    /// Copies the list.
    public Damage {
      items = List.copyOf(items);
    }
  }

  /// The contents of a device.
  ///
  /// @param segments files of the log
  /// @param records whole ones in them
  /// @param bytes of the log
  public record Found(int segments, long records, long bytes) {}

  /// Receives the records of the log as they are, for [Salvage].
  interface Records {
    /// Receives a record, or the place of one.
    ///
    /// @param segment its file
    /// @param at its place in the file
    /// @param next the beginning of the next one
    /// @param kept the undamaged items of a damaged one; null for an undamaged record
    void record(Known segment, long at, long next, @Nullable List<UndamagedItem> kept)
        throws IOException;
  }

  /// An undamaged item of a damaged record.
  ///
  /// @param at its place, relative to the record
  /// @param bytes its length, with the header
  record UndamagedItem(int at, int bytes) {}

  /// A segment, as far as it is known.
  ///
  /// @param segment the segment
  /// @param limit the end of reading in its file
  /// @param isLast whether it is the one that took appends
  /// @param isWhole whether its header is undamaged
  record Known(Segment segment, long limit, boolean isLast, boolean isWhole) {
    int number() {
      return segment.number();
    }
  }

  private static final int REGION_BYTES_MAX = 256 << 20;
  private static final int OPEN_FILES_MAX = 16;
  private static final Records NONE = (_, _, _, _) -> {};

  private final Disk disk;
  private final Visitor visitor;
  private final CRC32C crc = new CRC32C();
  private final List<Known> segments = new ArrayList<>();
  private long covered;
  private long records;
  private long total;
  private long done;

  private Survey(Disk disk, Visitor visitor) {
    this.disk = disk;
    this.visitor = visitor;
  }

  /// Surveys the device on a disk.
  ///
  /// @throws stoa.storage.disk.AlreadyOpen when the device is open
  /// @throws UnknownFormat when the files are not those of a device of this format version
  /// @throws ReadFailed when the disk cannot be read
  public static Found of(Disk disk, Visitor visitor) {
    return new Survey(disk, visitor).run(NONE);
  }

  static Found of(Disk disk, Visitor visitor, Records told) {
    return new Survey(disk, visitor).run(told);
  }

  private Found run(Records told) {
    try (var _ = disk.hold()) {
      var names = disk.list();
      if (names.stream().noneMatch(DeviceFiles::isSegment)) {
        throw new UnknownFormat(
            disk.place() + " has no segment, so it is not a device's directory");
      }
      index(names);
      find(names.stream().filter(DeviceFiles::isSegment).toList());
      for (var known : segments) total += known.limit();
      var files = new SegmentFiles(disk, DirectIo.OFF, OPEN_FILES_MAX);
      try {
        for (var known : segments) walk(files, known, told);
      } finally {
        files.close();
      }
      return new Found(segments.size(), records, total);
    } catch (IOException e) {
      throw new ReadFailed("the device in %s cannot be read: %s".formatted(disk.place(), e), e);
    }
  }

  // ---- the index

  private void index(List<String> names) throws IOException {
    var manifest = Manifest.read(disk, names);
    if (manifest == null) {
      if (names.contains(DeviceFiles.MANIFEST))
        indexDamage(DeviceFiles.MANIFEST, 0, "it is not whole");
      return;
    }
    covered = manifest.covered();
    for (var item : manifest.runs()) {
      try {
        var run = Run.open(disk, item.number(), item.blocks(), 0);
        try {
          blocks(run);
        } finally {
          run.file().close();
        }
      } catch (CorruptData | IOException e) {
        indexDamage(RunFormat.name(item.number()), 0, String.valueOf(e.getMessage()));
      }
    }
  }

  private void blocks(Run run) throws IOException {
    for (int block = 0; block < run.blocks(); block++) {
      try {
        var _ = run.load(block);
      } catch (CorruptData e) {
        long at = (long) block * RunFormat.BLOCK;
        indexDamage(RunFormat.name(run.number()), at, "the block's checksum does not match");
      }
    }
  }

  private void indexDamage(String file, long at, String what) {
    var says = what + "; the index is made anew from the log at the next opening";
    visitor.damage(new Damage(file, at, 0, says, List.of()));
  }

  // ---- the existing segments

  private void find(List<String> present) throws IOException {
    var headers = new TreeMap<Integer, SegmentHeader>();
    var left = new TreeMap<Integer, String>();
    for (var name : present) {
      int number = Segment.number(name);
      left.put(number, name);
      var header = header(name);
      if (header != null) headers.put(number, header);
    }
    int last = left.lastKey();
    var newest = headers.get(last);
    var listed = new TreeMap<Integer, SegmentHeader.Live>();
    if (newest != null) newest.live().forEach(live -> listed.put(live.number(), live));
    for (var live : listed.values()) {
      if (left.containsKey(live.number())) continue;
      long bytes = live.end() - live.base();
      var what = "the file is missing, though " + DeviceFiles.segment(last) + " names it";
      visitor.damage(new Damage(DeviceFiles.segment(live.number()), 0, bytes, what, List.of()));
    }
    long next = Long.MAX_VALUE; // the base of the following segment
    for (int number : left.descendingKeySet()) {
      if (newest != null && number != last && !listed.containsKey(number)) continue; // left over
      var known = known(number, headers.get(number), listed.get(number), next, number == last);
      if (known == null) continue;
      segments.addFirst(known);
      next = known.segment().base();
    }
  }

  /// Returns the header of a segment; null when it is damaged.
  private @Nullable SegmentHeader header(String name) throws IOException {
    try {
      return SegmentLog.newest(disk, name);
    } catch (CorruptData damaged) {
      var what = "the segment's header is damaged";
      visitor.damage(new Damage(name, 0, 0, what, List.of()));
      return null;
    }
  }

  private @Nullable Known known(
      int number,
      @Nullable SegmentHeader header,
      SegmentHeader.@Nullable Live live,
      long next,
      boolean isLast)
      throws IOException {
    var name = DeviceFiles.segment(number);
    long size;
    long base;
    int headerBytes;
    try (var file = disk.open(name)) {
      size = file.size();
      if (header != null) {
        base = header.base();
        headerBytes = header.bytes();
      } else {
        var first = first(file, size);
        if (first == null) {
          visitor.damage(new Damage(name, 0, size, "no record of it can be recognized", List.of()));
          return null;
        }
        base = first.position() - first.at();
        headerBytes = (int) first.at();
      }
    }
    long end = live != null ? live.end() : isLast ? Segment.OPEN_END : next;
    long limit = isLast ? size : end - base;
    var segment = new Segment(number, base, headerBytes, isLast ? Segment.OPEN_END : end);
    return new Known(segment, limit, isLast, header != null);
  }

  /// The first record of a file.
  private record First(long at, long position) {}

  /// Finds the first record of a segment whose header does not tell its place.
  private @Nullable First first(DiskFile file, long size) throws IOException {
    var bytes = new byte[(int) Math.min(size, REGION_BYTES_MAX)];
    if (!SegmentLog.readFully(file, 0, bytes, 0, bytes.length)) return null;
    int align = RecordFormat.ALIGNMENT;
    for (int at = SegmentHeader.LEAST;
        at + RecordFormat.RECORD_HEADER <= bytes.length;
        at += align) {
      long position = EncodedNumbers.getLong(bytes, at + 16);
      if (RecordFormat.isRecordHeader(crc, bytes, at, position)) return new First(at, position);
    }
    return null;
  }

  // ---- the records of one segment

  private void walk(SegmentFiles files, Known known, Records told) throws IOException {
    var segment = known.segment();
    var reader = new SegmentReader(files, segment, known.limit());
    var walk = new RecordWalk(reader, segment);
    var items = new Items();
    long at = segment.headerBytes();
    while (at < known.limit()) {
      long next = walk.verify(at);
      if (next >= 0) {
        walk.visit(at, next, items);
        told.record(known, at, next, null);
        records++;
      } else {
        next = walk.nextHeader(at + RecordFormat.ALIGNMENT);
        if (known.isLast() && isTail(walk, known, at, next)) break;
        damaged(known, reader, at, next, walk.damage(), told);
      }
      visitor.progress(done + next, total);
      at = next;
    }
    done += known.limit();
    if (known.isLast() && segment.base() + at < covered) {
      long bytes = covered - segment.base() - at;
      var what = "the log ends here, and the index had seen more of it";
      visitor.damage(new Damage(segment.name(), at, bytes, what, List.of()));
    }
  }

  /// Returns whether the rest was never durable, according to all evidence: opening discards it.
  private boolean isTail(RecordWalk walk, Known known, long at, long next) throws IOException {
    long position = known.segment().base() + at;
    if (position < covered) return false;
    for (long later = next; later < known.limit(); ) {
      if (walk.durable(later) > position) return false;
      later = walk.nextHeader(later + RecordFormat.ALIGNMENT);
    }
    return true;
  }

  private void damaged(
      Known known, SegmentReader reader, long at, long next, CorruptData why, Records told)
      throws IOException {
    var segment = known.segment();
    long bytes = next - at;
    var kept = new ArrayList<UndamagedItem>();
    var lost = new ArrayList<Place>();
    if (bytes <= REGION_BYTES_MAX) {
      var region = region(reader, at, (int) bytes);
      items(region, segment.base() + at, kept, lost);
    }
    for (var one : kept) bytes -= one.bytes();
    var what =
        String.valueOf(why.getMessage()).replaceFirst("^\\S+ at ", "").replaceFirst("\\. .*", "");
    visitor.damage(new Damage(segment.name(), at, bytes, "at " + what, lost));
    told.record(known, at, next, kept);
  }

  /// Returns the bytes of a part of a segment; zeros where its file ends before.
  private static byte[] region(SegmentReader reader, long at, int bytes) throws IOException {
    var region = new byte[bytes];
    for (int done = 0; done < bytes; ) {
      int index = reader.need(at + done, 1);
      if (index < 0) break;
      int n = Math.min(reader.filledFrom(index), bytes - done);
      System.arraycopy(reader.window(), index, region, done, n);
      done += n;
    }
    return region;
  }

  private void items(byte[] region, long position, List<UndamagedItem> kept, List<Place> lost)
      throws IOException {
    int at = RecordFormat.RECORD_HEADER;
    while (at + RecordFormat.ITEM_HEADER <= region.length) {
      var item = new Item();
      item.set(region, at, position + at);
      int bytes = bytes(region, at, item);
      if (bytes < 0) return;
      int next = at + bytes;
      if (isWhole(region, at, item)) {
        kept.add(new UndamagedItem(at, bytes));
        int dataAt = at + RecordFormat.ITEM_HEADER;
        tell(item, () -> java.util.Arrays.copyOfRange(region, dataAt, dataAt + item.length));
      } else if (isEnd(region, next) || isWholeAt(region, next, position)) {
        lost.add(place(item));
      } else {
        return;
      }
      at = next;
    }
  }

  /// Returns whether only padding is left of a record.
  private static boolean isEnd(byte[] region, int at) {
    return region.length - at < RecordFormat.ALIGNMENT;
  }

  private boolean isWholeAt(byte[] region, int at, long position) {
    if (at + RecordFormat.ITEM_HEADER > region.length) return false;
    var item = new Item();
    item.set(region, at, position + at);
    return bytes(region, at, item) > 0 && isWhole(region, at, item);
  }

  /// Returns the length of an item according to its header; -1 when that is impossible.
  private static int bytes(byte[] region, int at, Item item) {
    if (item.length < 0 || item.kind < 0 || item.kind > ObjectNote.FORKED) return -1;
    long bytes = RecordFormat.ITEM_HEADER + RecordFormat.stored(item.kind, item.length);
    return bytes <= region.length - at ? (int) bytes : -1;
  }

  private boolean isWhole(byte[] region, int at, Item item) {
    boolean isData = item.kind == RecordFormat.ITEM_DATA;
    int covered = RecordFormat.ITEM_HEADER - 4 + (isData ? 0 : item.length);
    if (RecordFormat.checksum(crc, region, at + 4, covered) != EncodedNumbers.getInt(region, at)) {
      return false;
    }
    int blockAt = at + RecordFormat.ITEM_HEADER;
    int rest = isData ? item.length : 0;
    for (int block = 0; rest > 0; block++) {
      int length = Math.min(rest, RecordFormat.BLOCK);
      int sum = RecordFormat.checksum(crc, region, blockAt, length);
      int mixed = sum ^ RecordFormat.mix(item.position, block);
      if (EncodedNumbers.getInt(region, blockAt + length) != mixed) return false;
      blockAt += length + 4;
      rest -= length;
    }
    return true;
  }

  // ---- findings

  private final class Items implements ItemVisitor {
    @Override
    public void item(Item item) {
      try {
        tell(item, item::data);
      } catch (IOException e) {
        throw new java.io.UncheckedIOException(e); // RecordWalk unwraps it
      }
    }
  }

  private void tell(Item item, Bytes bytes) throws IOException {
    byte[] none = {};
    visitor.item(place(item), item.kind == RecordFormat.ITEM_DATA ? () -> none : bytes);
  }

  private static Place place(Item item) {
    var sort =
        switch (item.kind) {
          case RecordFormat.ITEM_RECORD -> Sort.RECORD;
          case RecordFormat.ITEM_DATA -> Sort.DATA;
          case RecordFormat.ITEM_TRIM -> Sort.TRIM;
          default -> Sort.NOTE;
        };
    var object = new StreamId(item.high, item.low);
    return new Place(sort, object, item.space, item.offset, item.length, item.position);
  }
}
