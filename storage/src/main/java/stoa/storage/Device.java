package stoa.storage;

import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// The versioned object device: append-only checksummed segments and an index of extents.
///
/// Thread-safe: commits are taken one at a time, reads run beside them and see every commit that
/// [#append] has returned from. A reader sees all extents of a commit or none.
public final class Device implements AutoCloseable {
  static final String UNFINISHED = ".new";

  private final Disk disk;
  private final Disk.Hold hold;
  private final SegmentLog log;
  private final Index index;
  private final ReentrantLock appending = new ReentrantLock();
  private final long recoveredBytes;
  private volatile boolean closed;

  // Guarded by appending.
  private long records;
  private long extents;
  private long bytes;

  private Device(Disk disk, Disk.Hold hold, SegmentLog log, Index index, long recoveredBytes) {
    this.disk = disk;
    this.hold = hold;
    this.log = log;
    this.index = index;
    this.recoveredBytes = recoveredBytes;
  }

  /// Opens the device on a disk and recovers it: afterwards it has exactly the commits up to some
  /// point, each whole, among them all that a sync had made durable.
  ///
  /// @throws AlreadyOpen when another opener holds the disk
  /// @throws CorruptData when data that was durable is damaged or missing
  /// @throws UnknownFormat when the files are not those of a device of this format version
  /// @throws ReadFailed when the disk cannot be read
  /// @throws DiskFull when there is no room for a first segment
  public static Device open(Disk disk, DeviceConfig config) {
    Disk.Hold hold = null;
    try {
      hold = disk.hold();
      var names = disk.list();
      for (var name : names) refuseForeign(disk, name);
      var log = SegmentLog.open(disk, config, names);
      var index = new Index();
      log.recover(0, index::insert);
      index.show(log.end());
      return new Device(disk, hold, log, index, log.end());
    } catch (IOException e) {
      if (hold != null) hold.close();
      throw new ReadFailed("the device in %s cannot be opened: %s".formatted(disk.place(), e), e);
    } catch (RuntimeException e) {
      if (hold != null) hold.close();
      throw e;
    }
  }

  private static void refuseForeign(Disk disk, String name) {
    if (Segment.isName(name) || name.endsWith(UNFINISHED)) return;
    throw new UnknownFormat(
        "%s has a file %s, which is not a device's; choose an empty directory or the device's own"
            .formatted(disk.place(), name));
  }

  /// Writes a commit behind all earlier ones and makes it visible to readers. It is durable, whole
  /// or not at all, once a later [#sync] has returned. The commit may be reused afterwards. An
  /// empty commit does nothing.
  ///
  /// @throws DiskFull when nothing was written; the device goes on
  /// @throws DeviceFailed when the outcome is unknown until the device is opened again, or when an
  ///   earlier operation failed so
  public void append(Commit commit) {
    if (commit.count() == 0) return;
    appending.lock();
    try {
      ensureOpen();
      long position = log.append(commit);
      index.insert(commit.array(), 0, position);
      index.show(log.end());
      records++;
      extents += commit.count();
      bytes += RecordFormat.padded(commit.bytes());
    } finally {
      appending.unlock();
    }
  }

  /// Makes every commit appended before durable. Several threads may call it at once; they share
  /// what one of them does.
  ///
  /// @throws DeviceFailed when it is unknown whether they are, until the device is opened again
  public void sync() {
    ensureOpen();
    log.sync();
  }

  /// The data of the extent that was written at exactly this offset, or null.
  ///
  /// @throws CorruptData when the stored bytes are not what was written; other extents stay
  ///   readable
  /// @throws ReadFailed when the disk cannot be read
  public byte @Nullable [] read(StreamId object, int space, long offset) {
    ensureOpen();
    var found = new Entry();
    if (floorEntry(object, space, offset, found) != offset) return null;
    return data(object, space, found);
  }

  /// The greatest offset at or below `offset` at which an extent was written, or -1.
  public long floor(StreamId object, int space, long offset) {
    ensureOpen();
    return floorEntry(object, space, offset, new Entry());
  }

  private long floorEntry(StreamId object, int space, long offset, Entry found) {
    try {
      index.floor(object.high(), object.low(), space, offset, found);
      return found.offset;
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  private byte[] data(StreamId object, int space, Entry found) {
    return log.read(found.position, found.length, object.high(), object.low(), space, found.offset);
  }

  /// Visits the extents with offsets from `from` to `to`, both inclusive, in ascending order, until
  /// the visitor answers false. Extents that are written meanwhile may be among them.
  public void scan(StreamId object, int space, long from, long to, ExtentVisitor visitor) {
    ensureOpen();
    var found = new Entry();
    long next = from;
    try {
      while (next <= to && index.ceiling(object.high(), object.low(), space, next, found)) {
        if (found.offset > to) return;
        if (!visitor.visit(found.offset, data(object, space, found))) return;
        if (found.offset == Long.MAX_VALUE) return;
        next = found.offset + 1;
      }
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  /// Receives the extents of a scan.
  @FunctionalInterface
  public interface ExtentVisitor {
    /// One extent; answers whether to go on.
    boolean visit(long offset, byte[] data);
  }

  /// What the device has done and holds, at some moment during the call.
  public DeviceStats stats() {
    appending.lock();
    try {
      return new DeviceStats(
          records, extents, bytes, log.syncs(), log.segmentCount(), recoveredBytes);
    } finally {
      appending.unlock();
    }
  }

  private StorageException unreadable(IOException e) {
    if (closed) return closedException();
    return new ReadFailed("the index in %s cannot be read: %s".formatted(disk.place(), e), e);
  }

  private void ensureOpen() {
    if (closed) throw closedException();
  }

  private DeviceClosed closedException() {
    return new DeviceClosed("the device in " + disk.place() + " was closed");
  }

  /// Releases the disk for the next opener. Commits that were not synced may or may not survive a
  /// power loss; they do survive the end of the process. Idempotent.
  @Override
  public void close() {
    appending.lock();
    try {
      if (closed) return;
      closed = true;
      log.close();
      hold.close();
    } finally {
      appending.unlock();
    }
  }
}
