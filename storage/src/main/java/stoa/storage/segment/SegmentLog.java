package stoa.storage.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import stoa.storage.disk.CorruptData;
import stoa.storage.disk.DeviceClosed;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFailed;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.DirectIo;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;
import stoa.storage.disk.DiskFull;
import stoa.storage.disk.ReadFailed;
import stoa.storage.disk.TornWrite;
import stoa.storage.disk.UnknownFormat;

/// The log of commit records: segment files, one after the other.
///
/// A *log position* counts bytes over all segments, headers included: the byte at `x` of a segment
/// has the log position `base + x`. One thread at a time calls [#append] and [#retire] (under the
/// device's append lock); any thread calls [#sync], the reads, [#visit] and the counters.
public final class SegmentLog {
  /*
   * Invariants:
   * (1) end is the log position after the last record; it only grows. Bytes of the current segment
   *     from there on are zero or absent, unless `sealed` is set.
   * (2) Everything below durable survives a power loss. durable <= end.
   * (3) A segment appears under its name, whole and durable header included, only after everything
   *     in the segments before it is durable. So only the last segment can have a torn tail, and a
   *     segment's base is both the logical end of the one before and proof that it was synced.
   * (4) A byte beyond the logical end of a segment is never written again and never read as data.
   * (5) The header of the last segment names all others that are live. The log deletes a file that
   *     it does not name, but only after the name of the last segment is durable: otherwise a power
   *     loss might bring back the segment before as the last one, whose header names the deleted
   *     file.
   * (6) `segments` is ascending in number and base. A retired one leaves it before its file is
   *     closed, so a reader that fails on a closed file of a segment that is not retired was only
   *     early.
   *
   * Reading `end` before `current` makes sync() right without the append lock: if the segment
   * changed in between, invariant (3) says that the older one is durable already. `durable` and
   * `current` change before `end` does, so no thread syncs a segment that no longer takes appends.
   *
   * With a protected cache, bytes that the disk has taken are durable where the file had its length
   * before: up to `filled` as it was when the last sync of the same segment began, which is `kept`.
   */
  private static final int SMALL_SYNC = 16 << 10;
  private static final int SYNCS_JUDGED = 64;
  private static final int COPIED_READ_MAX = 32 << 10;
  private static final int TAIL_PIECE = 1 << 20;

  private final Disk disk;
  private final DeviceConfig config;
  private final SegmentFiles files;
  private final DataReader dataReader;
  private final List<String> leftovers;
  // Null without direct I/O.
  private final @Nullable WriteBehind behind;
  private final SingleFlight syncing = new SingleFlight();
  private final AtomicLong durable = new AtomicLong();
  private final AtomicLong syncs = new AtomicLong();
  // Syncs, and those left out.
  private final AtomicLong rounds = new AtomicLong();
  private volatile Filled filled = new Filled(0, 0);
  private volatile Filled kept = new Filled(0, 0);
  private volatile Segment[] segments;
  private volatile Segment current;
  private volatile long end;
  private volatile @Nullable Throwable failure;
  private volatile boolean closed;

  /// How far a segment was filled ahead.
  ///
  /// @param segment its number
  /// @param end the log position
  private record Filled(int segment, long end) {}

  // The rest belongs to the appending thread.
  private final RecordWriter writer;
  private boolean sealed;
  // The size of the current segment, reserved bytes included.
  private long fileSize;
  private boolean smallSyncs = true;
  private long bytesJudged;
  private long syncsJudged;

  private SegmentLog(
      Disk disk,
      DeviceConfig config,
      SegmentFiles files,
      Segment[] segments,
      List<String> leftovers)
      throws IOException {
    this.disk = disk;
    this.config = config;
    this.files = files;
    this.dataReader = new DataReader(files);
    this.segments = segments;
    this.leftovers = leftovers;
    this.current = segments[segments.length - 1];
    var file = files.file(current);
    this.behind =
        switch (config.directIo()) {
          case OFF -> null;
          case ON -> new WriteBehind(file);
        };
    this.writer = new RecordWriter(behind == null ? new WriteThrough(file) : behind);
  }

  /// Opens the segments among the files of a disk, or begins the first one. Reads no records yet:
  /// [#recover] follows.
  public static SegmentLog open(Disk disk, DeviceConfig config, List<String> names)
      throws IOException {
    return open(disk, config, names, SegmentFiles.OPEN_FILES_MAX);
  }

  /// Opens the log with a bound on the number of open files.
  public static SegmentLog open(
      Disk disk, DeviceConfig config, List<String> names, int openFilesMax) throws IOException {
    var files = new SegmentFiles(disk, config.directIo(), openFilesMax);
    try {
      var present = names.stream().filter(DeviceFiles::isSegment).toList();
      if (present.isEmpty()) {
        var first = createSegment(disk, config.directIo(), 1, 0, List.of());
        return new SegmentLog(disk, config, files, new Segment[] {first}, List.of());
      }
      return open(disk, config, files, present);
    } catch (IOException | RuntimeException e) {
      files.close();
      throw e;
    }
  }

  private static SegmentLog open(
      Disk disk, DeviceConfig config, SegmentFiles files, List<String> present) throws IOException {
    var newest = newest(disk, present.getLast());
    var segments = new ArrayList<Segment>();
    var unlisted = new ArrayList<>(present);
    for (var live : newest.live()) {
      var name = DeviceFiles.segment(live.number());
      if (!unlisted.remove(name)) {
        throw corrupt(name, 0, "the file is missing, though " + present.getLast() + " names it");
      }
      segments.add(listed(disk, name, live));
    }
    unlisted.remove(present.getLast());
    segments.add(new Segment(newest.number(), newest.base(), newest.bytes(), Segment.OPEN_END));
    return new SegmentLog(disk, config, files, segments.toArray(Segment[]::new), unlisted);
  }

  private static Segment listed(Disk disk, String name, SegmentHeader.Live live)
      throws IOException {
    try (var file = disk.open(name)) {
      var header = header(disk, file);
      if (header.base() != live.base()) {
        throw corrupt(name, 16, "the base is " + header.base() + " and should be " + live.base());
      }
      long length = live.end() - live.base();
      if (file.size() < length) {
        throw corrupt(name, file.size(), "the file ends here, but held " + length + " bytes");
      }
      return new Segment(live.number(), live.base(), header.bytes(), live.end());
    }
  }

  /// Returns the header of a segment; it names the live segments when that one began.
  public static SegmentHeader newest(Disk disk, String name) throws IOException {
    try (var file = disk.open(name)) {
      return header(disk, file);
    }
  }

  private static SegmentHeader header(Disk disk, DiskFile file) throws IOException {
    var name = file.name();
    var fixed = new byte[SegmentHeader.LEAST];
    if (!readFully(file, 0, fixed, 0, fixed.length)) {
      throw corrupt(name, 0, "the file ends within its header");
    }
    if (EncodedNumbers.getLong(fixed, 0) != SegmentHeader.MAGIC) {
      throw corrupt(name, 0, "the header is not that of a segment");
    }
    if (EncodedNumbers.getInt(fixed, 24) != RecordFormat.checksum(new CRC32C(), fixed, 0, 24)) {
      throw corrupt(name, 0, "the header's checksum does not match");
    }
    int version = EncodedNumbers.getInt(fixed, 8);
    if (version != SegmentHeader.VERSION) {
      throw new UnknownFormat(
          "%s in %s has format version %d; this program reads version %d: use the program that wrote it"
              .formatted(name, disk.place(), version, SegmentHeader.VERSION));
    }
    if (EncodedNumbers.getInt(fixed, 12) != Segment.number(name)) {
      throw corrupt(name, 12, "the header has number " + EncodedNumbers.getInt(fixed, 12));
    }
    int length = SegmentHeader.length(fixed);
    if (length < 0 || length > file.size()) {
      throw corrupt(name, 28, "the header's length is not possible");
    }
    var bytes = Arrays.copyOf(fixed, length);
    boolean there = readFully(file, fixed.length, bytes, fixed.length, length - fixed.length);
    if (!there || !SegmentHeader.isWhole(bytes)) {
      throw corrupt(name, 28, "the checksum of the list of segments does not match");
    }
    return SegmentHeader.decode(bytes);
  }

  private static Segment createSegment(
      Disk disk, DirectIo directIo, int number, long base, Collection<Segment> live)
      throws IOException {
    var name = DeviceFiles.segment(number);
    var unfinished = name + DeviceFiles.UNFINISHED;
    if (disk.list().contains(unfinished)) disk.delete(unfinished);
    var header = SegmentHeader.encode(number, base, live, alignment(directIo));
    try (var file = disk.create(unfinished)) {
      file.write(0, ByteBuffer.wrap(header));
      file.sync();
    } catch (DiskFull e) {
      // There may have been no room even for its name.
      if (disk.list().contains(unfinished)) disk.delete(unfinished);
      throw e;
    } catch (TornWrite e) {
      disk.delete(unfinished);
      throw e.nothingWritten();
    }
    disk.rename(unfinished, name);
    disk.syncDirectory();
    return new Segment(number, base, header.length, Segment.OPEN_END);
  }

  private static int alignment(DirectIo directIo) {
    return switch (directIo) {
      case OFF -> RecordFormat.ALIGNMENT;
      case ON -> Disk.DIRECT_ALIGNMENT;
    };
  }

  private long aligned(long length) {
    long alignment = alignment(config.directIo());
    return (length + alignment - 1) & -alignment;
  }

  /// Visits every record from the log position `from` on, finds the end of the log, makes the found
  /// records durable, and deletes the leftovers of retired segments.
  public void recover(long from, ItemVisitor visitor) throws IOException {
    // First, so that everything that the index takes over from here is durable: a killed process
    // may have left its last bytes, and its last segment's name, to the operating system.
    writeTailAgain(from);
    files.file(current).sync();
    disk.syncDirectory();
    for (var segment : segments) recover(segment, from, visitor);
    durable.set(end);
    for (var name : leftovers) disk.delete(name);
  }

  /// Writes the records again that no later one proves to be durable, each as it is. A sync that
  /// failed may have left their bytes in the operating system's cache alone, where they look
  /// written, and no later sync writes them.
  private void writeTailAgain(long from) throws IOException {
    var segment = current;
    long limit = files.file(segment).size();
    var reader = new SegmentReader(files, segment, limit);
    var walk = new RecordWalk(reader, segment);
    long proven = Math.max(from - segment.base(), segment.headerBytes());
    long end = proven;
    for (long next = walk.next(end); next >= 0 && next <= limit; next = walk.next(end)) {
      proven = Math.max(proven, walk.durable(end) - segment.base());
      end = next;
    }
    // Not with direct I/O, whose positions would have to be aligned.
    try (var file = disk.open(segment.name())) {
      for (long at = proven; at < end; ) {
        byte[] bytes = reader.copy(at, (int) Math.min(TAIL_PIECE, end - at));
        file.write(at, ByteBuffer.wrap(bytes));
        at += bytes.length;
      }
    } catch (DiskFull | TornWrite full) {
      // The file system has no room for other places of these bytes, so they stay where they are.
    }
  }

  private void recover(Segment segment, long from, ItemVisitor visitor) throws IOException {
    boolean last = segment == current;
    long limit = last ? files.file(segment).size() : segment.end() - segment.base();
    if (!last && segment.end() <= from) return;
    if (segment.base() + limit < from) {
      throw corrupt(
          segment.name(),
          limit,
          "the file ends here, but the manifest says that it was durable up to "
              + (from - segment.base()));
    }
    var reader = new SegmentReader(files, segment, limit);
    var walk = new RecordWalk(reader, segment);
    long at = Math.max(from - segment.base(), segment.headerBytes());
    while (last || at < limit) {
      long next = walk.verify(at);
      if (next < 0) break;
      walk.visit(at, next, visitor);
      at = next;
    }
    if (last) {
      refuseLostRecords(walk, segment, at, limit);
      sealed = !reader.isZeroFrom(at) || aligned(at) != at || aligned(limit) != limit;
      fileSize = limit;
      end = segment.base() + at;
    } else if (at != limit) {
      throw corrupt(segment.name(), at, "no whole record stands here");
    }
  }

  /// Throws when a later record has a durable position beyond `at`: then the bytes there are no
  /// torn tail but damage.
  private static void refuseLostRecords(RecordWalk walk, Segment segment, long at, long limit)
      throws IOException {
    long later = walk.nextHeader(at);
    while (later < limit) {
      if (walk.durable(later) > segment.base() + at) {
        throw corrupt(
            segment.name(),
            at,
            "no whole record stands here, though the record at %d was written after it was durable"
                .formatted(later));
      }
      later = walk.nextHeader(later + RecordFormat.ALIGNMENT);
    }
  }

  /// Writes a record after the last one and returns its log position.
  public long append(Commit commit) {
    append(List.of(commit));
    return commit.position();
  }

  /// Writes records after the last one, back to back, and gives each its position. Afterwards all
  /// of them are there; when it throws [DiskFull], none is.
  public void append(List<Commit> commits) {
    ensureUsable();
    if (commits.isEmpty()) return;
    long length = 0;
    for (var commit : commits) length += RecordFormat.padded(commit.bytes());
    long aligned = aligned(length);
    try {
      long at = end - current.base();
      boolean full = at > current.headerBytes() && at + aligned > config.segmentBytes();
      if (sealed || full) {
        beginSegment(Set.of());
        at = current.headerBytes();
      }
      if (at + aligned > fileSize) reserve(at, aligned);
      seal(commits, (int) (aligned - length));
      writeWhole(at, aligned, commits);
      fileSize = Math.max(fileSize, at + aligned);
      bytesJudged += aligned;
      end = current.base() + at + aligned;
    } catch (IOException e) {
      throw fail(e);
    }
  }

  private void seal(List<Commit> commits, int gap) {
    long position = end;
    long durableNow = durable.get();
    int rest = commits.size();
    for (var commit : commits) {
      commit.seal(position, durableNow, --rest == 0 ? gap : 0);
      position += RecordFormat.padded(commit.bytes());
    }
  }

  /// Writes records whole, or leaves no valid part of them.
  private void writeWhole(long at, long length, List<Commit> commits) throws IOException {
    try {
      write(at, length, commits);
    } catch (TornWrite e) {
      // A part of one record does not count. Of several, the first may be whole, and a crash bring
      // it back.
      if (commits.size() > 1) throw e;
      sealed = true;
      throw e.nothingWritten();
    }
  }

  private void write(long at, long length, List<Commit> commits) throws IOException {
    var file = files.file(current);
    var first = commits.getFirst();
    if (commits.size() == 1 && first.inOnePiece() && config.directIo() == DirectIo.OFF) {
      file.write(at, first.padded());
      return;
    }
    // Otherwise it would write a part before it knows that there is no room for the rest.
    if (at + length > fileSize && (behind != null || length > WriteThrough.BYTES_MAX)) {
      file.ensureRoom(at + length);
    }
    writer.write(file, current.base(), current.base() + at, length, commits);
  }

  /// Begins a segment whose header does not name the segments that it retires.
  private void beginSegment(Set<Integer> retiring) throws IOException {
    sync();
    var old = current;
    var live = new ArrayList<Segment>();
    old.endAt(end); // as the new header has it
    try {
      for (var segment : segments) {
        if (!retiring.contains(segment.number())) live.add(segment);
      }
      live.add(createSegment(disk, config.directIo(), old.number() + 1, end, live));
    } catch (DiskFull e) {
      old.endAt(Segment.OPEN_END);
      throw e;
    }
    var next = live.getLast();
    files.file(next);
    long nextEnd = next.base() + next.headerBytes();
    durable.accumulateAndGet(nextEnd, Math::max);
    segments = live.toArray(Segment[]::new);
    current = next;
    end = nextEnd;
    sealed = false;
    fileSize = next.headerBytes();
  }

  /// Begins a segment, so that the previous one can be given up.
  public void turn() {
    ensureUsable();
    try {
      beginSegment(Set.of());
    } catch (IOException e) {
      throw fail(e);
    }
  }

  /// Gives up segments that are no longer needed, and deletes their files. On return no failure can
  /// bring the segments back. Reads of them throw [Retired].
  ///
  /// @param numbers of live segments, without the one that takes appends
  public void retire(Collection<Integer> numbers) {
    ensureUsable();
    if (numbers.isEmpty()) return;
    var retiring = new HashSet<>(numbers);
    var retired = new ArrayList<Segment>();
    for (var segment : segments) {
      if (retiring.contains(segment.number())) retired.add(segment);
    }
    if (retired.size() != retiring.size() || retired.getLast() == current) {
      throw new IllegalArgumentException(
          numbers + " are not all numbers of live segments before " + current.number());
    }
    try {
      beginSegment(retiring);
      for (var segment : retired) {
        segment.retire();
        files.closeRetired(segment);
        disk.delete(segment.name());
      }
    } catch (IOException e) {
      throw fail(e);
    }
  }

  /// Fills ahead when syncs are frequent and small: those profit most from a file that does not
  /// grow, and the zeros cost a second write.
  private void reserve(long at, long length) throws IOException {
    judgeSyncs();
    if (!smallSyncs || length > SMALL_SYNC || length > config.fillAheadBytes() / 4) return;
    long to = Math.min(aligned(fileSize + config.fillAheadBytes()), config.segmentBytes());
    if (to < at + length || aligned(to) != to) return;
    write(at + current.base());
    try {
      files.file(current).reserve(fileSize, to);
      fileSize = to;
      filled = new Filled(current.number(), current.base() + to);
    } catch (DiskFull e) {
      // There may be room for the bytes themselves.
    }
  }

  private void judgeSyncs() {
    long judged = rounds.get() - syncsJudged;
    if (bytesJudged < config.fillAheadBytes() && judged < SYNCS_JUDGED) return;
    smallSyncs = bytesJudged <= judged * SMALL_SYNC;
    bytesJudged = 0;
    syncsJudged += judged;
  }

  /// Writes the appended bytes below a log position, if their write was postponed.
  private void write(long position) throws IOException {
    if (behind != null) behind.writeUpTo(position);
  }

  /// Returns the log position up to which files have the appended bytes.
  private long writtenEnd() {
    return behind == null ? end : Math.min(end, behind.writtenTo());
  }

  /// Makes everything appended before durable.
  public void sync() {
    sync(end);
  }

  /// Makes everything below a log position, which is not beyond [#end], durable. Several threads
  /// may call it at once; they share the work of one of them.
  public void sync(long position) {
    if (durable.get() >= position) return;
    ensureUsable();
    try {
      write(position);
      syncing.until(() -> durable.get() >= position, this::syncNow);
    } catch (IOException e) {
      throw fail(e);
    }
  }

  /// Returns whether a log position is in a live segment.
  public boolean isLive(long position) {
    var segment = find(position);
    return position >= segment.base() && position < segment.end();
  }

  private void syncNow() {
    ensureUsable();
    try {
      syncFile();
    } catch (IOException e) {
      throw fail(e); // before another thread syncs: the system may report a failure only once
    }
  }

  private void syncFile() throws IOException {
    // Half of the waiting bytes, so that the disk writes the other half during the sync.
    write(durable.get() + (end - durable.get()) / 2);
    long target = writtenEnd();
    var segment = current; // after the target: see above
    rounds.incrementAndGet();
    if (!isKept(segment, target)) {
      var ahead = filled;
      files.file(segment).sync();
      if (ahead.segment == segment.number()) kept = ahead;
      syncs.incrementAndGet();
    }
    durable.accumulateAndGet(target, Math::max);
  }

  /// Returns whether what was written up to a log position survives a power loss without a sync.
  private boolean isKept(Segment segment, long position) {
    return switch (config.durability()) {
      case SYNCED -> false;
      case PROTECTED_CACHE -> {
        var now = kept;
        yield now.segment == segment.number() && position <= now.end;
      }
    };
  }

  /// Reads the data of the RECORD at a log position.
  ///
  /// @throws Retired when the position is in no live segment
  public byte[] read(long position, int length, long high, long low, int space, long offset) {
    return read(RecordFormat.ITEM_RECORD, position, length, high, low, space, offset);
  }

  /// Reads like [#read(long, int, long, long, int, long)], of a note.
  public byte[] read(
      int kind, long position, int length, long high, long low, int space, long offset) {
    var segment = segmentOf(position);
    long at = position - segment.base();
    // A small extent is read with its header at once and copied, a large one is read in place.
    boolean small = length <= COPIED_READ_MAX;
    var header = new byte[RecordFormat.ITEM_HEADER + (small ? length : 0)];
    byte[] data = new byte[small ? 0 : length];
    try {
      write(Math.min(end, position + RecordFormat.ITEM_HEADER + length));
      boolean whole =
          files.readFully(segment, at, ByteBuffer.wrap(header))
              && files.readFully(segment, at + header.length, ByteBuffer.wrap(data));
      if (!whole) {
        throw corrupt(segment.name(), at, "the file ends within the extent that stands here");
      }
    } catch (IOException e) {
      throw unreadable(segment, at, e);
    }
    var crc = new CRC32C();
    crc.update(header, 4, header.length - 4);
    crc.update(data, 0, data.length);
    if (EncodedNumbers.getInt(header, 0) != (int) crc.getValue()) {
      throw corrupt(segment.name(), at, "the extent's checksum does not match");
    }
    if (EncodedNumbers.getInt(header, 4) != length
        || EncodedNumbers.getLong(header, 8) != high
        || EncodedNumbers.getLong(header, 16) != low
        || EncodedNumbers.getLong(header, 24) != offset
        || (header[32] & 0xff) != space
        || header[33] != kind) {
      throw corrupt(segment.name(), at, "the extent is not the one that the index names");
    }
    return small ? Arrays.copyOfRange(header, RecordFormat.ITEM_HEADER, header.length) : data;
  }

  /// Fills `target` with the data of the DATA item at a log position, from its byte `skip` on. It
  /// verifies each block that it reads, and reads no other bytes. After an exception, the contents
  /// of the target are undefined.
  ///
  /// @throws Retired when the position is in no live segment
  /// @throws CorruptData when the stored bytes are damaged
  public void readData(long position, long skip, ByteBuffer target) {
    var segment = segmentOf(position);
    long at = position - segment.base();
    try {
      long stored = RecordFormat.stored(Math.toIntExact(skip + target.remaining()));
      write(Math.min(end, position + RecordFormat.ITEM_HEADER + stored));
      dataReader.read(segment, at, skip, target);
    } catch (IOException e) {
      throw unreadable(segment, at, e);
    }
  }

  /// Fills the target with the bytes of a live segment from a position in its file on, unchecked.
  ///
  /// @throws Retired when no live segment has that number
  /// @throws ReadFailed when the file cannot be read, or ends before
  public void copy(int number, long at, ByteBuffer target) {
    Segment found = null;
    for (var segment : segments) if (segment.number() == number) found = segment;
    if (found == null) throw new Retired(at);
    try {
      write(Math.min(end, found.base() + at + target.remaining()));
      if (files.readFully(found, at, target)) return;
    } catch (IOException e) {
      throw unreadable(found, at, e);
    }
    throw new ReadFailed("%s ends before %d".formatted(found.name(), at + target.limit()));
  }

  /// Visits the records of a live segment from the log position `from` on, which is that of a
  /// record, or before the first.
  ///
  /// @throws Retired when the segment is no longer live
  /// @throws CorruptData when a record is damaged
  public void visit(Segment segment, long from, ItemVisitor visitor) {
    visit(
        segment,
        from,
        visitor,
        damage -> {
          throw damage;
        });
  }

  /// Visits like [#visit(Segment, long, ItemVisitor)], but reports a damaged record, and goes on
  /// with the next one that it recognizes.
  public void visit(
      Segment segment, long from, ItemVisitor visitor, Consumer<CorruptData> damaged) {
    long limit = Math.min(segment.end(), end) - segment.base();
    var reader = new SegmentReader(files, segment, limit);
    var walk = new RecordWalk(reader, segment);
    long at = Math.max(from - segment.base(), segment.headerBytes());
    try {
      write(Math.min(end, segment.base() + limit));
      while (at < limit) {
        long next = walk.verify(at);
        if (next < 0) {
          damaged.accept(walk.damage());
          next = walk.nextHeader(at + RecordFormat.ALIGNMENT);
        } else {
          walk.visit(at, next, visitor);
        }
        at = next;
      }
    } catch (IOException e) {
      throw unreadable(segment, at, e);
    }
  }

  private RuntimeException unreadable(Segment segment, long at, IOException e) {
    if (closed) return new DeviceClosed("the device in " + disk.place() + " was closed");
    if (segment.retired()) return new Retired(segment.base() + at);
    return new ReadFailed("%s cannot be read at %d: %s".formatted(segment.name(), at, e), e);
  }

  /// Returns the live segment of a log position.
  private Segment segmentOf(long position) {
    var segment = find(position);
    if (position < segment.base() || position >= segment.end()) throw new Retired(position);
    return segment;
  }

  private Segment find(long position) {
    var all = segments;
    int low = 0;
    int high = all.length - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (all[middle].base() <= position) low = middle;
      else high = middle - 1;
    }
    return all[low];
  }

  /// Returns the live segments in ascending order; the last one takes appends.
  public List<Segment> segments() {
    return List.of(segments);
  }

  int openFiles() {
    return files.openCount();
  }

  /// Fills a range from a file; returns whether the file had as many bytes.
  public static boolean readFully(DiskFile file, long position, byte[] bytes, int from, int length)
      throws IOException {
    var target = ByteBuffer.wrap(bytes, from, length);
    long at = position;
    while (target.hasRemaining()) {
      int n = file.read(at, target);
      if (n < 0) return false;
      at += n;
    }
    return true;
  }

  /// Returns the size at which a new segment begins.
  public long segmentBytes() {
    return config.segmentBytes();
  }

  /// Returns the log position after the last record.
  public long end() {
    return end;
  }

  /// Returns the log position below which everything is durable.
  public long durable() {
    return durable.get();
  }

  /// Returns the number of syncs since the log was opened.
  public long syncs() {
    return syncs.get();
  }

  /// Returns the number of bytes of the live segments.
  public long heldBytes() {
    long bytes = 0;
    for (var segment : segments) bytes += Math.min(segment.end(), end) - segment.base();
    return bytes;
  }

  /// Returns the number of bytes of the largest live segment.
  public long largestBytes() {
    long most = 0;
    for (var segment : segments)
      most = Math.max(most, Math.min(segment.end(), end) - segment.base());
    return most;
  }

  /// Returns the number of segments.
  public int segmentCount() {
    return segments.length;
  }

  /// Throws when the log was closed or has failed.
  public void ensureUsable() {
    var cause = failure;
    if (cause != null) throw failed(cause);
    if (closed) throw new DeviceClosed("the device in " + disk.place() + " was closed");
  }

  /// Returns why the log takes no more writes; null while it does.
  public @Nullable DeviceFailed failure() {
    Throwable cause = failure;
    return cause == null ? null : failed(cause);
  }

  /// Notes that the disk failed: from now on the log takes no writes.
  public DeviceFailed fail(Throwable cause) {
    if (failure == null) failure = cause;
    return failed(cause);
  }

  private DeviceFailed failed(Throwable cause) {
    return new DeviceFailed(
        "the device in %s takes no more commits since a write or sync failed (%s); reads go on; check the disk and open it again"
            .formatted(disk.place(), cause),
        cause);
  }

  /// Closes the files of the log.
  public void close() {
    try {
      if (failure == null) write(end);
    } catch (IOException e) {
      // Unsynced bytes may be lost.
    }
    closed = true;
    files.close();
  }

  static CorruptData corrupt(String file, long at, String what) {
    return new CorruptData(
        "%s at %d: %s. Nothing was changed; restore the file from a copy or a replica"
            .formatted(file, at, what));
  }
}
