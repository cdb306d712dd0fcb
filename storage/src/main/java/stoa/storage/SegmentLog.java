package stoa.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// The log of commit records: segment files, one behind the other.
///
/// A *log position* counts bytes over all segments, headers included: the byte at `x` of a segment
/// has the log position `base + x`. [#append] is called by one thread at a time (the device's
/// append lock); [#sync], [#read] and the counters from any.
final class SegmentLog {
  /*
   * Invariants:
   * (1) end is the log position behind the last record; it only grows. Bytes of the current segment
   *     at and behind it are zero or absent, or `sealed` says that they are not.
   * (2) Everything below durable survives a power loss. durable <= end.
   * (3) A segment appears under its name, whole and durable header included, only after everything
   *     in the segments before it is durable. So only the last segment can have a torn tail, and a
   *     segment's base is both the logical end of the one before and proof that it was synced.
   * (4) A byte behind the logical end of a segment is never written again and never read as data.
   *
   * Reading `end` before `current` makes sync() right without the append lock: if the segment changed
   * in between, invariant (3) says that the older one is durable already.
   */
  private static final int SMALL_SYNC = 64 << 10;
  private static final int COPIED_READ_MAX = 32 << 10;

  private final Disk disk;
  private final DeviceConfig config;
  private final ReentrantLock syncing = new ReentrantLock();
  private final AtomicLong durable = new AtomicLong();
  private final AtomicLong syncs = new AtomicLong();
  private volatile Segment[] segments;
  private volatile Segment current;
  private volatile long end;
  private volatile @Nullable Throwable failure;
  private volatile boolean closed;

  // The rest belongs to the appending thread.
  private boolean sealed;
  private long fileSize; // of the current segment, reserved bytes included
  private long bytesSinceReserve;
  private long syncsAtReserve;

  private SegmentLog(Disk disk, DeviceConfig config, Segment[] segments) {
    this.disk = disk;
    this.config = config;
    this.segments = segments;
    this.current = segments[segments.length - 1];
  }

  /// Opens the segments among the files of a disk, or begins the first one. Reads no records yet:
  /// [#recover] follows.
  static SegmentLog open(Disk disk, DeviceConfig config, List<String> names) throws IOException {
    var found = new ArrayList<Segment>();
    try {
      for (var name : names) {
        if (Segment.isName(name)) found.add(openSegment(disk, name, found));
      }
      if (found.isEmpty()) found.add(createSegment(disk, 1, 0));
      return new SegmentLog(disk, config, found.toArray(Segment[]::new));
    } catch (IOException | RuntimeException e) {
      found.forEach(segment -> segment.file().close());
      throw e;
    }
  }

  private static Segment openSegment(Disk disk, String name, List<Segment> before)
      throws IOException {
    int expected = before.size() + 1;
    if (Segment.number(name) != expected) {
      throw corrupt(Segment.name(expected), 0, "the file is missing, though " + name + " exists");
    }
    var file = disk.open(name);
    try {
      var bytes = new byte[RecordFormat.SEGMENT_HEADER];
      if (!readFully(file, 0, bytes, 0, bytes.length)) {
        throw corrupt(name, 0, "the file ends within its header");
      }
      if (Layout.getLong(bytes, 0) != RecordFormat.SEGMENT_MAGIC) {
        throw corrupt(name, 0, "the header is not that of a segment");
      }
      int version = Layout.getInt(bytes, 8);
      if (Layout.getInt(bytes, 24) != RecordFormat.checksum(new CRC32C(), bytes, 0, 24)) {
        throw corrupt(name, 0, "the header's checksum does not match");
      }
      if (version != RecordFormat.VERSION) {
        throw new UnknownFormat(
            "%s in %s has format version %d; this program reads version %d: use the program that wrote it"
                .formatted(name, disk.place(), version, RecordFormat.VERSION));
      }
      long base = Layout.getLong(bytes, 16);
      if (Layout.getInt(bytes, 12) != expected) {
        throw corrupt(name, 12, "the header has number " + Layout.getInt(bytes, 12));
      }
      if (before.isEmpty()) {
        if (base != 0) throw corrupt(name, 16, "the first segment has base " + base);
      } else {
        var previous = before.getLast();
        long length = base - previous.base();
        if (length < RecordFormat.SEGMENT_HEADER) {
          throw corrupt(name, 16, "base " + base + " is not behind that of the segment before");
        }
        if (previous.file().size() < length) {
          throw corrupt(
              Segment.name(previous.number()),
              previous.file().size(),
              "the file ends here, but held " + length + " bytes");
        }
      }
      return new Segment(expected, base, file);
    } catch (IOException | RuntimeException e) {
      file.close();
      throw e;
    }
  }

  private static Segment createSegment(Disk disk, int number, long base) throws IOException {
    var name = Segment.name(number);
    var unfinished = name + Device.UNFINISHED;
    if (disk.list().contains(unfinished)) disk.delete(unfinished);
    try (var file = disk.create(unfinished)) {
      file.write(0, ByteBuffer.wrap(RecordFormat.segmentHeader(number, base)));
      file.sync();
    } catch (DiskFull e) {
      disk.delete(unfinished);
      throw e;
    }
    disk.rename(unfinished, name);
    disk.syncDirectory();
    return new Segment(number, base, disk.open(name));
  }

  /// Visits every record from the log position `from` on, finds the end of the log, and makes what
  /// was found durable. Changes no file.
  void recover(long from, RecordVisitor visitor) throws IOException {
    // First, so that whatever the index takes over from here is durable: a process that was ended
    // may
    // have left its last bytes, and its last segment's name, to the operating system.
    current.file().sync();
    disk.syncDirectory();
    for (int i = 0; i < segments.length; i++) {
      var segment = segments[i];
      boolean last = i == segments.length - 1;
      long limit = last ? segment.file().size() : segments[i + 1].base() - segment.base();
      if (!last && segment.base() + limit <= from) continue;
      if (segment.base() + limit < from) {
        throw corrupt(
            Segment.name(segment.number()),
            limit,
            "the file ends here, but the manifest says that it was durable up to "
                + (from - segment.base()));
      }
      long start = Math.max(from - segment.base(), RecordFormat.SEGMENT_HEADER);
      recover(segment, start, limit, last, visitor);
    }
    durable.set(end);
  }

  private void recover(Segment segment, long start, long limit, boolean last, RecordVisitor visitor)
      throws IOException {
    var reader = new SegmentReader(segment.file(), limit);
    var crc = new CRC32C();
    long at = start;
    while (last || at < limit) {
      int length = wholeRecord(reader, crc, segment, at);
      if (length < 0) break;
      int record = reader.need(at, length);
      visitor.record(reader.window(), record, segment.base() + at);
      at += RecordFormat.padded(length);
    }
    if (last) {
      refuseLostRecords(reader, crc, segment, at, limit);
      sealed = !reader.isZeroFrom(at);
      fileSize = limit;
      end = segment.base() + at;
    } else if (at != limit) {
      throw corrupt(Segment.name(segment.number()), at, "no whole record stands here");
    }
  }

  /// The length of the record at a file position, or -1 when there is no whole and unharmed one.
  private static int wholeRecord(SegmentReader reader, CRC32C crc, Segment segment, long at)
      throws IOException {
    int header = reader.need(at, RecordFormat.RECORD_HEADER);
    if (header < 0) return -1;
    if (!RecordFormat.isRecordHeader(crc, reader.window(), header, segment.base() + at)) return -1;
    int kind = reader.window()[header + 4];
    if (kind != RecordFormat.KIND_COMMIT) {
      throw new UnknownFormat(
          "%s has a record of kind %d at %d, which this program does not know: use the program that wrote it"
              .formatted(Segment.name(segment.number()), kind, at));
    }
    int length = RecordFormat.length(reader.window(), header);
    if (length < RecordFormat.RECORD_HEADER || length > Commit.BYTES_MAX) return -1;
    int record = reader.need(at, (int) RecordFormat.padded(length));
    if (record < 0 || !RecordFormat.isBodyWhole(crc, reader.window(), record)) return -1;
    return length;
  }

  /// Throws when a later record was written in the knowledge that the position `at` was durable:
  /// then what stands there is not a torn tail but damage.
  private static void refuseLostRecords(
      SegmentReader reader, CRC32C crc, Segment segment, long at, long limit) throws IOException {
    long position = segment.base() + at;
    for (long later = at; later < limit; later += RecordFormat.ALIGNMENT) {
      int header = reader.need(later, RecordFormat.RECORD_HEADER);
      if (header < 0) return;
      if (Layout.getInt(reader.window(), header) != RecordFormat.RECORD_MAGIC) continue;
      if (!RecordFormat.isRecordHeader(crc, reader.window(), header, segment.base() + later)) {
        continue;
      }
      if (RecordFormat.durable(reader.window(), header) > position) {
        throw corrupt(
            Segment.name(segment.number()),
            at,
            "no whole record stands here, though the record at %d was written after it was durable"
                .formatted(later));
      }
    }
  }

  /// Writes a record behind the last one and answers its log position.
  long append(Commit commit) {
    ensureUsable();
    long length = RecordFormat.padded(commit.bytes());
    try {
      long at = end - current.base();
      boolean full = at > RecordFormat.SEGMENT_HEADER && at + length > config.segmentBytes();
      if (sealed || full) {
        beginSegment();
        at = RecordFormat.SEGMENT_HEADER;
      }
      if (at + length > fileSize) reserve(at, length);
      long position = end;
      current.file().write(at, commit.seal(position, durable.get()));
      fileSize = Math.max(fileSize, at + length);
      bytesSinceReserve += length;
      end = position + length;
      return position;
    } catch (IOException e) {
      throw fail(e);
    }
  }

  private void beginSegment() throws IOException {
    sync();
    var next = createSegment(disk, current.number() + 1, end);
    var all = Arrays.copyOf(segments, segments.length + 1);
    all[segments.length] = next;
    segments = all;
    end = next.base() + RecordFormat.SEGMENT_HEADER;
    durable.accumulateAndGet(end, Math::max);
    current = next;
    sealed = false;
    fileSize = RecordFormat.SEGMENT_HEADER;
  }

  private void reserve(long at, long length) throws IOException {
    long sinceReserve = syncs.get() - syncsAtReserve;
    boolean small = bytesSinceReserve / (sinceReserve + 1) <= SMALL_SYNC;
    bytesSinceReserve = 0;
    syncsAtReserve += sinceReserve;
    if (!small || length > config.fillAheadBytes() / 4) return;
    long to = Math.min(fileSize + config.fillAheadBytes(), config.segmentBytes());
    if (to < at + length) return;
    current.file().reserve(fileSize, to);
    fileSize = to;
  }

  /// Makes everything appended before durable.
  void sync() {
    if (durable.get() >= end) return;
    syncing.lock();
    try {
      long target = end;
      if (durable.get() >= target) return;
      ensureUsable();
      current.file().sync();
      syncs.incrementAndGet();
      durable.accumulateAndGet(target, Math::max);
    } catch (IOException e) {
      throw fail(e);
    } finally {
      syncing.unlock();
    }
  }

  /// Reads the data of the extent whose header stands at a log position.
  byte[] read(long position, int length, long high, long low, int space, long offset) {
    var segment = segmentOf(position);
    long at = position - segment.base();
    // A small extent is read with its header at once and copied, a large one is read in place.
    boolean small = length <= COPIED_READ_MAX;
    var header = new byte[RecordFormat.EXTENT_HEADER + (small ? length : 0)];
    byte[] data = new byte[small ? 0 : length];
    try {
      boolean whole =
          readFully(segment.file(), at, header, 0, header.length)
              && readFully(segment.file(), at + header.length, data, 0, data.length);
      if (!whole) {
        throw corrupt(
            Segment.name(segment.number()), at, "the file ends within the extent that stands here");
      }
    } catch (IOException e) {
      if (closed) throw new DeviceClosed("the device in " + disk.place() + " was closed");
      throw new ReadFailed(
          "%s cannot be read at %d: %s".formatted(Segment.name(segment.number()), at, e), e);
    }
    var crc = new CRC32C();
    crc.update(header, 4, header.length - 4);
    crc.update(data, 0, data.length);
    if (Layout.getInt(header, 0) != (int) crc.getValue()) {
      throw corrupt(Segment.name(segment.number()), at, "the extent's checksum does not match");
    }
    if (Layout.getInt(header, 4) != length
        || Layout.getLong(header, 8) != high
        || Layout.getLong(header, 16) != low
        || Layout.getLong(header, 24) != offset
        || (header[32] & 0xff) != space) {
      throw corrupt(
          Segment.name(segment.number()), at, "the extent is not the one that the index names");
    }
    return small ? Arrays.copyOfRange(header, RecordFormat.EXTENT_HEADER, header.length) : data;
  }

  private Segment segmentOf(long position) {
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

  static boolean readFully(DiskFile file, long position, byte[] bytes, int from, int length)
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

  /// The log position behind the last record.
  long end() {
    return end;
  }

  long durable() {
    return durable.get();
  }

  long syncs() {
    return syncs.get();
  }

  int segmentCount() {
    return segments.length;
  }

  void ensureUsable() {
    var cause = failure;
    if (cause != null) throw failed(cause);
    if (closed) throw new DeviceClosed("the device in " + disk.place() + " was closed");
  }

  /// Notes that the disk failed: from now on nothing is written.
  DeviceFailed fail(Throwable cause) {
    if (failure == null) failure = cause;
    return failed(cause);
  }

  private DeviceFailed failed(Throwable cause) {
    return new DeviceFailed(
        "the device in %s takes no more commits since a write or sync failed (%s); reads go on; check the disk and open it again"
            .formatted(disk.place(), cause),
        cause);
  }

  void close() {
    closed = true;
    for (var segment : segments) segment.file().close();
  }

  static CorruptData corrupt(String file, long at, String what) {
    return new CorruptData(
        "%s at %d: %s. Nothing was changed; restore the file from a copy or a replica"
            .formatted(file, at, what));
  }

  /// Receives the records of a recovery.
  @FunctionalInterface
  interface RecordVisitor {
    /// One record, from index `at` of a buffer that is valid during the call.
    void record(byte[] bytes, int at, long position);
  }
}
