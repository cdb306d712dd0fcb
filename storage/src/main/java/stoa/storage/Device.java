package stoa.storage;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.base.StreamId;
import stoa.storage.disk.Allowance;
import stoa.storage.disk.CorruptData;
import stoa.storage.disk.DeviceClosed;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFailed;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.DirectIo;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFull;
import stoa.storage.disk.ReadFailed;
import stoa.storage.disk.StorageException;
import stoa.storage.disk.UnknownFormat;
import stoa.storage.index.Index;
import stoa.storage.index.IndexEntry;
import stoa.storage.index.IndexScan;
import stoa.storage.index.IndexView;
import stoa.storage.index.RunFormat;
import stoa.storage.index.Spaces;
import stoa.storage.index.Trims;
import stoa.storage.object.ObjectChanges;
import stoa.storage.object.ObjectLookup;
import stoa.storage.object.OpenTransaction;
import stoa.storage.object.ReadQueue;
import stoa.storage.object.VersionedObject;
import stoa.storage.object.VersionedObjects;
import stoa.storage.segment.Commit;
import stoa.storage.segment.EntryOrder;
import stoa.storage.segment.GroupCommit;
import stoa.storage.segment.Operation;
import stoa.storage.segment.RecordFormat;
import stoa.storage.segment.Retired;
import stoa.storage.segment.SegmentLog;
import stoa.storage.upkeep.Maintenance;
import stoa.storage.upkeep.MoveWrite;
import stoa.storage.upkeep.Scrub;
import stoa.storage.upkeep.ScrubReport;
import stoa.storage.upkeep.Upkeep;

/// The versioned object device: append-only checksummed segments and an index of extents.
///
/// Thread-safe: the device takes one commit at a time, and reads run beside them. Readers of
/// records see every commit that [#append] has returned from, whole; readers of objects see durable
/// commits only, unless the owner syncs for them ([#useExternalSync]).
public final class Device implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Device.class);

  // The bytes that a trim counts as, beside its own: owners usually release little at a time, and
  // often.
  private static final long DIRT_OF_A_TRIM = 64 << 10;

  // The most threads of a device for reads that no thread waits for, as many as operations in the
  // experiments of the VOSD paper; and tasks for them on an executor of the caller.
  private static final int READERS_MAX = 32;
  private static final int FOREIGN_READERS_MAX = 8;

  private final Disk disk;
  private final Disk.Hold hold;
  private final SegmentLog log;
  private final Index index;
  private final RunningCalls running;
  private final Workers workers;
  private final GroupCommit commits;
  private final ObjectChanges changes;
  private final VersionedObjects objects;
  private final Maintenance maintenance;
  private final Allowance allowance;
  private final long recoveredBytes;
  private final boolean keepsUnsynced;
  private final ReentrantLock appending = new ReentrantLock();
  private volatile boolean closed;

  // Guarded by appending.
  private long records;
  private long extents;
  private long bytes;
  // The end of the log when the device last looked for forgotten transactions.
  private long lookedAt;
  // How many forgotten transactions it has aborted.
  private long aborted;

  // Operations other than maintenance.
  private final AtomicLong appended = new AtomicLong();
  private final AtomicLong dirt = new AtomicLong(); // bytes that may be worth maintenance
  private final AtomicLong unpinned =
      new AtomicLong(); // how often the last user of a kept segment has ended
  // The last attempt to make room on the disk that made none.
  private final AtomicReference<@Nullable InVain> inVain = new AtomicReference<>();

  // Null without one.
  private volatile @Nullable Quota quota;
  // Set before any other thread has the device.
  private @Nullable Upkeep upkeep;

  private Device(
      Disk disk,
      Disk.Hold hold,
      SegmentLog log,
      Index index,
      ObjectChanges changes,
      RunningCalls running,
      DeviceConfig config,
      Workers workers,
      long recoveredBytes) {
    this.disk = disk;
    this.running = running;
    this.hold = hold;
    this.log = log;
    this.index = index;
    this.changes = changes;
    this.commits = new GroupCommit(new Appender(), workers.background);
    this.allowance = index.allowance();
    this.objects =
        new VersionedObjects(
            log,
            index,
            changes,
            commits,
            this::makeRoom,
            unpinned::incrementAndGet,
            config.transactions(),
            new ReadQueue(workers.reading, workers.readersMax));
    this.maintenance = new Maintenance(log, index, changes, objects, appending);
    this.workers = workers;
    this.recoveredBytes = recoveredBytes;
    this.keepsUnsynced = disk.outlivesProcess() && config.directIo() == DirectIo.OFF;
  }

  /// Opens the device on a disk and recovers it: afterwards it has exactly the commits up to some
  /// point, each whole, among them all that a sync had made durable. Daemon threads of the device
  /// do its background work, including [#maintain]: when the device is idle and a sixteenth of its
  /// bytes were written or given up since the last time, or when half of them were.
  ///
  /// @throws stoa.storage.disk.AlreadyOpen when another opener holds the disk
  /// @throws CorruptData when durable data is damaged or missing
  /// @throws UnknownFormat when the files are not those of a device of this format version
  /// @throws ReadFailed when the disk cannot be read
  /// @throws DiskFull when there is no room for a first segment, or to rebuild the index
  /// @throws DeviceFailed when a write or sync failed on the way
  public static Device open(Disk disk, DeviceConfig config) {
    var threads = threads(2);
    var readers = threads(READERS_MAX);
    var workers = new Workers(threads, readers, READERS_MAX, List.of(threads, readers));
    try {
      var device = open(disk, config, workers);
      device.upkeep =
          new Upkeep(
              device::maintain, device.appended::get, device.dirt::get, device::held, disk::room);
      return device;
    } catch (RuntimeException | Error e) {
      workers.close();
      throw e;
    }
  }

  /// The executors of a device.
  ///
  /// @param background writes and merges index tables, and drives writes without a waiting thread
  /// @param reading does reads without a waiting thread
  /// @param readersMax the most tasks of `reading` at a time
  /// @param owned those that end with the device
  private record Workers(
      Executor background, Executor reading, int readersMax, List<ExecutorService> owned) {
    void close() {
      for (var executor : owned) executor.shutdown();
    }
  }

  /// Returns threads that end when they have nothing to do.
  private static ExecutorService threads(int most) {
    var threads =
        new ThreadPoolExecutor(
            most, most, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), Device::daemon);
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  private static Thread daemon(Runnable task) {
    var thread = new Thread(task, "stoa-storage");
    thread.setDaemon(true);
    return thread;
  }

  /// Opens a device as [#open(Disk, DeviceConfig)] does, with the caller's executor for background
  /// work: writing index tables to the disk, merging them, and writes and reads without a waiting
  /// thread. At most twelve tasks of a device are queued or running at a time. An executor that
  /// runs tasks in the calling thread makes the device deterministic. Shut the executor down only
  /// after closing the device. Only the caller calls [#maintain].
  public static Device open(Disk disk, DeviceConfig config, Executor background) {
    return open(disk, config, new Workers(background, background, FOREIGN_READERS_MAX, List.of()));
  }

  private static Device open(Disk disk, DeviceConfig config, Workers workers) {
    Disk.Hold hold = null;
    try {
      hold = disk.hold();
      return opened(disk, hold, config, workers);
    } catch (IOException | RuntimeException e) {
      if (hold != null) hold.close();
      if (e instanceof RuntimeException unchecked && !(e instanceof UncheckedIOException)) {
        throw unchecked;
      }
      throw new ReadFailed("the device in %s cannot be opened: %s".formatted(disk.place(), e), e);
    }
  }

  /// Opens the device on a disk that is held. If the index turns out to be damaged, it rebuilds the
  /// index from the log, which has all entries.
  private static Device opened(Disk disk, Disk.Hold hold, DeviceConfig config, Workers workers)
      throws IOException {
    try {
      return recovered(disk, hold, config, workers);
    } catch (CorruptData damage) {
      if (!damage.isOfIndex()) throw damage;
      if (disk.list().contains(DeviceFiles.MANIFEST)) disk.delete(DeviceFiles.MANIFEST);
      disk.syncDirectory();
      LOG.warn("the index in {} is made anew from the log", disk.place());
      return recovered(disk, hold, config, workers);
    }
  }

  private static Device recovered(Disk disk, Disk.Hold hold, DeviceConfig config, Workers workers)
      throws IOException {
    long began = System.nanoTime();
    SegmentLog log = null;
    Index index = null;
    try {
      var names = disk.list();
      for (var name : names) refuseForeign(disk, name);
      refuseWithoutSegments(disk, names);
      var fitting = config.fitting(disk.size());
      log = SegmentLog.open(disk, fitting, names);
      index = Index.open(disk, fitting, log, workers.background, Device::birth, names);
      var unused = unusedRuns(names, index);
      long covered = index.covered();
      var changes = new ObjectChanges(index, log);
      recover(log, index, changes, covered);
      var damage = index.damage();
      if (damage != null) throw damage;
      for (var name : unused) disk.delete(name);
      long recovered = log.end() - covered;
      if (covered == 0 && names.stream().anyMatch(RunFormat::isName)) {
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
        LOG.info("the index in {} was made of {} bytes in {} ms", disk.place(), recovered, millis);
      }
      var running = RunningCalls.open(hold.notes(RunningCalls.BYTES));
      return new Device(disk, hold, log, index, changes, running, fitting, workers, recovered);
    } catch (IOException | RuntimeException e) {
      if (index != null) index.close();
      if (log != null) log.close();
      throw e;
    }
  }

  private static void recover(SegmentLog log, Index index, ObjectChanges changes, long from)
      throws IOException {
    log.recover(from, new Replay(index, changes));
    index.publish(log.end());
  }

  /// Returns the log position below which all entries of an object are dead.
  private static long birth(IndexView view, long high, long low) throws IOException {
    return ObjectLookup.birth(view, new StreamId(high, low), new IndexEntry());
  }

  private static void refuseForeign(Disk disk, String name) {
    boolean known =
        DeviceFiles.isSegment(name)
            || RunFormat.isName(name)
            || name.equals(DeviceFiles.MANIFEST)
            || name.equals(DeviceFiles.AUDIT)
            || name.endsWith(DeviceFiles.UNFINISHED);
    if (known) return;
    throw new UnknownFormat(
        "%s has a file %s, which is not a device's; choose an empty directory or the device's own"
            .formatted(disk.place(), name));
  }

  private static void refuseWithoutSegments(Disk disk, List<String> names) {
    if (names.stream().anyMatch(DeviceFiles::isSegment)) return;
    for (var name : names) {
      if (!RunFormat.isName(name) && !name.equals(DeviceFiles.MANIFEST)) continue;
      throw new CorruptData(
          "%s has a file %s, but no segment, so it is not a device's directory or all its data is missing; choose an empty directory, or restore the segments"
              .formatted(disk.place(), name));
    }
  }

  /// Returns the run files that a crash left behind: unfinished, or replaced already.
  private static List<String> unusedRuns(List<String> names, Index index) {
    return names.stream().filter(name -> RunFormat.isName(name) && !index.uses(name)).toList();
  }

  /// Writes a commit after all earlier ones and makes it visible to readers. It is durable, whole
  /// or not at all, once a later [#sync] has returned. The caller may reuse the commit afterwards.
  /// An empty commit does nothing.
  ///
  /// When the disk is full, this thread first reclaims as much as possible. The device reserves
  /// some room for commits that only trim, and for [#appendReserved].
  ///
  /// @throws DiskFull when nothing was written; the device goes on
  /// @throws DeviceFailed when the outcome is unknown until the device is opened again, or when an
  ///   earlier operation failed so
  public void append(Commit commit) {
    if (commit.count() == 0) return;
    boolean givesUp = commit.trims() == commit.count();
    if (!givesUp) makeRoom(RecordFormat.padded(commit.bytes()));
    appendThere(commit);
  }

  /// Writes a commit like [#append], and may use the reserved room. Before a commit of users' data,
  /// the caller calls [#makeRoom]; deletions, and commits that complete earlier ones, need no such
  /// call.
  public void appendReserved(Commit commit) {
    if (commit.count() > 0) appendThere(commit);
  }

  private void appendThere(Commit commit) {
    try {
      appendNow(commit);
    } catch (DiskFull full) {
      if (!free(RecordFormat.padded(commit.bytes()))) throw full;
      appendNow(commit);
    }
  }

  /// Makes room for some bytes of users' data, by reclaiming.
  ///
  /// @throws DiskFull when there is not enough; it states the remedy
  public void makeRoom(long bytesWanted) {
    ensureOpen();
    if (!allowance.take(bytesWanted)) {
      if (!free(bytesWanted) || !allowance.take(bytesWanted)) throw allowance.full();
    }
    Quota bound = quota;
    if (bound == null || bound.allowance.take(bytesWanted)) return;
    boolean free = free(bytesWanted, bound.allowance, bound.inVain);
    if (!free || !bound.allowance.take(bytesWanted)) throw bound.allowance.full();
  }

  /// How many bytes users may make the device have.
  ///
  /// @param inVain the last attempt to make room that made none
  private record Quota(
      long bytesMax, Allowance allowance, AtomicReference<@Nullable InVain> inVain) {}

  /// Sets the most bytes that the log and the index may have because of users' data; beyond it,
  /// [#makeRoom] refuses as on a full disk. Commits without [#makeRoom] may go beyond it.
  ///
  /// @param bytesMax [Long#MAX_VALUE] for no bound
  public void bound(long bytesMax) {
    quota =
        bytesMax == Long.MAX_VALUE
            ? null
            : new Quota(
                bytesMax, allowance.within(bytesMax, this::usedBytes), new AtomicReference<>());
  }

  /// Returns the most bytes that users may make the device have; [Long#MAX_VALUE] without a bound.
  public long boundBytes() {
    Quota bound = quota;
    return bound == null ? Long.MAX_VALUE : bound.bytesMax;
  }

  /// Returns the size at which the device refuses users for its bound: the bound without the
  /// reserve for deletions. [Long#MAX_VALUE] without a bound.
  public long fillableBytes() {
    Quota bound = quota;
    return bound == null ? Long.MAX_VALUE : Math.max(0, bound.bytesMax - bound.allowance.reserve());
  }

  /// The given-up bytes, and the number of unpinnings, before an attempt to make room.
  private record InVain(long dirt, long unpinned) {}

  /// Reclaims as much as possible. Returns whether there is room now. Looks again only when
  /// something was given up or unpinned since the last failed attempt.
  private boolean free(long bytesWanted) {
    return free(bytesWanted, allowance, inVain);
  }

  private boolean free(
      long bytesWanted, Allowance within, AtomicReference<@Nullable InVain> lastInVain) {
    if (within.hasRoom(bytesWanted)) return true;
    var now = new InVain(dirt.get(), unpinned.get());
    var last = lastInVain.get();
    boolean again =
        last == null || now.dirt - last.dirt >= DIRT_OF_A_TRIM || now.unpinned != last.unpinned;
    if (!again) return false;
    try {
      if (maintenance.free(bytesWanted, within)) return true;
    } catch (IOException | CorruptData | ReadFailed e) {
      // Readers of the damaged part get the exception.
    }
    lastInVain.set(now);
    return false;
  }

  private void appendNow(Commit commit) {
    boolean flush;
    appending.lock();
    try {
      ensureOpen();
      log.ensureUsable();
      index.awaitRoom();
      log.append(commit);
      try {
        commit.visit(index::insert);
      } catch (RuntimeException | Error e) {
        log.fail(e); // the log has entries that the index lacks
        throw e;
      }
      flush = index.publish(log.end());
      touched(RecordFormat.padded(commit.bytes()) + commit.trims() * DIRT_OF_A_TRIM);
      records++;
      extents += commit.count();
      bytes += RecordFormat.padded(commit.bytes());
      abortForgotten();
    } finally {
      appending.unlock();
    }
    if (flush) index.flushSoon();
  }

  /// Looks for forgotten transactions, once for each segment's worth of commits. The caller holds
  /// the append lock.
  private void abortForgotten() {
    if (log.end() - lookedAt < log.segmentBytes()) return;
    lookedAt = log.end();
    for (var transaction : objects.abortForgotten()) {
      aborted++;
      LOG.warn(
          "a forgotten transaction of the device in {} was aborted: {}", disk.place(), transaction);
    }
  }

  /// Returns the write transactions that have not ended, those first that keep the most bytes from
  /// being reclaimed. The device aborts those that keep more than [DeviceConfig#transactions()]
  /// allows.
  public List<OpenTransaction> openTransactions() {
    appending.lock();
    try {
      return objects.openTransactions();
    } finally {
      appending.unlock();
    }
  }

  /// Leaves it to the owner to make objects durable, as with records: from now on a change of an
  /// object is visible at once, and durable once a later [#sync] has returned. For an owner that
  /// has every change in its own log. Call it once, before using objects.
  public void useExternalSync() {
    objects.useExternalSync();
  }

  /// Returns the object of an id. It need not exist.
  public VersionedObject object(StreamId id) {
    ensureOpen();
    return new VersionedObject(objects, id);
  }

  /// Returns the object of a number: that of the id with the number as its lower half.
  public VersionedObject object(long number) {
    return object(new StreamId(0, number));
  }

  /// Visits the ids of the objects that exist when the call begins, in ascending order, until the
  /// visitor returns false.
  ///
  /// @param after the id to begin after; null for the start
  public void objects(@Nullable StreamId after, Predicate<StreamId> visitor) {
    ensureOpen();
    var found = new IndexEntry();
    try (var view = objects.shown()) {
      var walk = view.walk();
      if (after != null) walk.seek(after.high(), after.low(), 256, 0);
      while (walk.next()) {
        var id = new StreamId(walk.high(), walk.low());
        if (walk.space() < Spaces.VERSIONS) {
          walk.seek(walk.high(), walk.low(), Spaces.VERSIONS, 0);
          continue;
        }
        walk.skipObject();
        long birth = ObjectLookup.birth(view, id, found);
        boolean exists = ObjectLookup.range(view, id, birth, Long.MAX_VALUE, found);
        if (exists && !visitor.test(id)) return;
      }
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  /// Visits the ids of the objects that have records, or had some before a release, when the call
  /// begins, in ascending order, until the visitor returns false.
  ///
  /// @param after the id to begin after; null for the start
  public void withRecords(@Nullable StreamId after, Predicate<StreamId> visitor) {
    ensureOpen();
    try (var view = index.view()) {
      var walk = view.walk();
      if (after != null) walk.seek(after.high(), after.low(), 256, 0);
      while (walk.next()) {
        boolean counts = walk.space() < EntryOrder.VERSIONED || walk.space() == Spaces.TRIMS;
        if (!counts) {
          walk.seek(walk.high(), walk.low(), Spaces.TRIMS, 0);
          continue;
        }
        var id = new StreamId(walk.high(), walk.low());
        walk.skipObject();
        if (!Trims.isOwn(id) && !visitor.test(id)) return;
      }
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  private void touched(long bytesOfDirt) {
    appended.incrementAndGet();
    dirt.addAndGet(bytesOfDirt);
  }

  private static long dirtOf(List<Operation> written) {
    long bytes = 0;
    for (var operation : written) bytes += operation.givesUp();
    return bytes;
  }

  private long held() {
    return log.heldBytes();
  }

  /// Writes operations of versioned objects.
  private final class Appender implements GroupCommit.Target {
    @Override
    public List<Operation> append(List<Operation> batch) {
      boolean flush;
      order(batch);
      var written = new ArrayList<Operation>(batch.size());
      var unchanged = new ArrayList<Operation>(); // the commits before them may not be durable yet
      appending.lock();
      try {
        ensureOpen();
        log.ensureUsable();
        index.awaitRoom();
        var commits = new ArrayList<Commit>(batch.size());
        for (var operation : batch) {
          var record = admitted(operation);
          if (record != null) {
            written.add(operation);
            commits.add(record);
          } else if (operation.failure == null) {
            unchanged.add(operation);
          }
        }
        if (written.isEmpty()) return unchanged;
        try {
          log.append(commits);
        } catch (StorageException e) {
          changes.forget();
          throw e;
        }
        try {
          for (int i = 0; i < written.size(); i++) {
            var operation = written.get(i);
            operation.changed = operation.apply(commits.get(i).position());
          }
        } catch (IOException | RuntimeException | Error e) {
          throw log.fail(e); // the log has entries that the index lacks
        }
        flush = index.publish(log.end());
        if (!(written.getFirst() instanceof MoveWrite)) touched(dirtOf(written));
        records += written.size();
        for (var commit : commits) {
          extents += commit.count();
          bytes += RecordFormat.padded(commit.bytes());
        }
        abortForgotten();
      } finally {
        appending.unlock();
      }
      if (flush) index.flushSoon();
      written.addAll(unchanged);
      return written;
    }

    /// Orders operations that were begun at the same time by their versions: the next version of an
    /// object is cheaper than a late one.
    private static void order(List<Operation> batch) {
      if (batch.size() < 2) return;
      for (var operation : batch) if (operation.rank() < 0) return;
      batch.sort(Comparator.comparingLong(Operation::rank));
    }

    private @Nullable Commit admitted(Operation operation) {
      try {
        if (operation.admit()) return operation.record();
      } catch (IOException e) {
        operation.failure = unreadable(e);
      } catch (RuntimeException e) {
        operation.failure = e;
      }
      return null;
    }

    @Override
    public void sync() {
      Device.this.sync();
    }
  }

  /// Makes every earlier commit durable. Several threads may call it at once; they share the work
  /// of one of them.
  ///
  /// @throws DeviceFailed when their durability is unknown, until the device is opened again
  public void sync() {
    ensureOpen();
    log.sync();
  }

  /// Returns whether commits outlive this process before a [#sync], though not a loss of power.
  /// They do not where the process itself keeps them until then, and where nothing outlives it.
  public boolean keepsUnsynced() {
    return keepsUnsynced;
  }

  /// Returns the data of the extent written at exactly this offset, or null.
  ///
  /// @throws CorruptData when the stored bytes are damaged; other extents stay readable
  /// @throws ReadFailed when the disk cannot be read
  public byte @Nullable [] read(StreamId object, int space, long offset) {
    ensureOpen();
    Commit.requireRecordSpace(space);
    var found = new IndexEntry();
    while (true) {
      if (floorEntry(object, space, offset, found) != offset) return null;
      try {
        return data(object, space, found);
      } catch (Retired moved) {
        // The index knows the new place by now.
      }
    }
  }

  /// Returns the greatest offset of an extent at or below `offset`, or -1.
  public long floor(StreamId object, int space, long offset) {
    ensureOpen();
    Commit.requireRecordSpace(space);
    return floorEntry(object, space, offset, new IndexEntry());
  }

  /// Returns the greatest offset at or below `offset` of an extent that has bytes, or -1.
  public long floorFilled(StreamId object, int space, long offset) {
    ensureOpen();
    Commit.requireRecordSpace(space);
    var found = new IndexEntry();
    long at = offset;
    while (true) {
      long next = floorEntry(object, space, at, found);
      if (next < 0 || found.length > 0) return next;
      at = next - 1;
    }
  }

  /// Returns the extent at the greatest offset at or below `offset`, or null when there is none:
  /// [#floor] and [#read] in one lookup, of one moment.
  ///
  /// @throws CorruptData when the stored bytes are damaged; other extents stay readable
  /// @throws ReadFailed when the disk cannot be read
  public @Nullable Extent readFloor(StreamId object, int space, long offset) {
    ensureOpen();
    Commit.requireRecordSpace(space);
    var found = new IndexEntry();
    while (true) {
      if (floorEntry(object, space, offset, found) < 0) return null;
      try {
        return new Extent(found.offset, data(object, space, found));
      } catch (Retired moved) {
        // As in read.
      }
    }
  }

  /// Bytes and their offset in their space.
  ///
  /// @param offset the offset they were written at
  /// @param data the bytes
  @SuppressWarnings("ArrayRecordComponent") // a carrier that no code compares
  public record Extent(long offset, byte[] data) {}

  /// Returns the offset below which a record space of an object is trimmed ([Commit#trim]); 0 when
  /// it never was.
  ///
  /// @throws ReadFailed when the disk cannot be read
  public long trimmedBefore(StreamId object, int space) {
    ensureOpen();
    Commit.requireRecordSpace(space);
    return bound(object, space);
  }

  private long bound(StreamId object, int space) {
    try {
      return index.trims().before(object.high(), object.low(), space);
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  /// Finds the entry at the greatest untrimmed offset up to a given one. It asks for the bound
  /// before and after: with the older one, it might find a part of the records that a trim has
  /// released meanwhile, or miss those written together with the trim.
  private long floorEntry(StreamId object, int space, long offset, IndexEntry found) {
    long bound = bound(object, space);
    while (true) {
      found.clear();
      if (offset < bound) return -1;
      try {
        index.floor(object.high(), object.low(), space, offset, found);
      } catch (IOException e) {
        throw unreadable(e);
      }
      long now = bound(object, space);
      if (now == bound) break;
      bound = now;
    }
    if (found.offset < bound) found.clear();
    return found.offset;
  }

  private byte[] data(StreamId object, int space, IndexEntry found) {
    return log.read(
        found.position, (int) found.length, object.high(), object.low(), space, found.offset);
  }

  /// Visits the extents with offsets from `from` to `to`, both inclusive, in ascending order, until
  /// the visitor returns false: those written when the call begins, of each offset the latest at
  /// that time. It may skip those that are trimmed meanwhile.
  ///
  /// @throws CorruptData when the stored bytes are damaged
  /// @throws ReadFailed when the disk cannot be read
  public void scan(StreamId object, int space, long from, long to, ExtentVisitor visitor) {
    ensureOpen();
    Commit.requireRecordSpace(space);
    if (to < 0) return;
    try (var scan = beginScan(object, space, from)) {
      while (scan.next() && scan.entry().offset <= to) {
        var entry = scan.entry();
        byte[] data = scanned(object, space, entry);
        if (data != null && !visitor.visit(entry.offset, data)) return;
      }
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  private IndexScan beginScan(StreamId object, int space, long from) throws IOException {
    long bound = bound(object, space);
    while (true) {
      var scan = index.scan(object.high(), object.low(), space, Math.max(bound, from));
      long now = bound(object, space); // as in floorEntry
      if (now == bound) return scan;
      scan.close();
      bound = now;
    }
  }

  /// Returns the data of an entry, or null when it was trimmed meanwhile.
  private byte @Nullable [] scanned(StreamId object, int space, IndexEntry entry) {
    try {
      return data(object, space, entry);
    } catch (Retired moved) {
      return read(object, space, entry.offset);
    }
  }

  /// Receives the extents of a scan.
  @FunctionalInterface
  public interface ExtentVisitor {
    /// Receives one extent; returns whether to go on.
    boolean visit(long offset, byte[] data);
  }

  /// Does one bounded step of maintenance: writes a scattered object again in the order of its
  /// offsets, or reclaims a segment with few live bytes. Returns false when there is nothing to do.
  /// Callers of other operations go on meanwhile.
  ///
  /// @throws DiskFull when there is no room for the bytes that it must write first; nothing is lost
  public boolean maintain() {
    return maintain(() -> {});
  }

  boolean maintain(Runnable pace) {
    ensureOpen();
    try {
      return maintenance.step(pace);
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  /// Reads everything and verifies every checksum. Changes nothing; callers of other operations go
  /// on meanwhile.
  public ScrubReport scrub() {
    ensureOpen();
    try {
      return new Scrub(log, index).run();
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  /// Returns what the device has at one moment during the call, all of it durable: what opening it
  /// would find after a crash at that moment. Callers of other operations go on meanwhile. Nothing
  /// keeps the segments: [#copy] of one that was reclaimed since then fails.
  ///
  /// @param note reads something of the device at the same moment
  public <T> Image<T> image(Supplier<T> note) {
    var parts = new ArrayList<Image.Part>();
    T noted;
    long end;
    appending.lock();
    try {
      ensureOpen();
      log.ensureUsable();
      noted = note.get();
      end = log.end();
      for (var segment : log.segments()) {
        long bytes = Math.min(segment.end(), end) - segment.base();
        parts.add(new Image.Part(segment.number(), segment.base(), bytes));
      }
    } finally {
      appending.unlock();
    }
    log.sync(end);
    return new Image<>(parts, noted);
  }

  /// Fills the target with the bytes of a segment of an [#image], from a position in its file on.
  ///
  /// @throws Retired when the segment was reclaimed since then: take another image
  /// @throws ReadFailed when the disk cannot be read
  public void copy(int segment, long at, ByteBuffer target) {
    ensureOpen();
    log.copy(segment, at, target);
  }

  /// Returns the runs of its opener on its objects, and the failures of earlier ones.
  public RunningCalls running() {
    return running;
  }

  /// Returns the device's statistics, at some moment during the call.
  public DeviceStats stats() {
    appending.lock();
    try {
      return new DeviceStats(
          records,
          extents,
          bytes,
          log.syncs(),
          log.segmentCount(),
          log.end(),
          log.durable(),
          index.runCount(),
          index.runEntries(),
          index.runBytes(),
          index.tableBytes(),
          index.flushes(),
          index.merges(),
          recoveredBytes,
          objects.openCount(),
          aborted);
    } finally {
      appending.unlock();
    }
  }

  /// How many bytes the log holds, without the segments that were retired.
  public long heldBytes() {
    return log.heldBytes();
  }

  /// How many bytes its segments and its index take on the disk.
  public long usedBytes() {
    return log.heldBytes() + index.runBytes();
  }

  /// How many bytes the disk has left, about; [Long#MAX_VALUE] without a limit.
  public long roomBytes() {
    return allowance.room();
  }

  /// Returns why the device must be opened again; null when it need not. Either it takes no more
  /// commits, or a part of its index is unreadable, which opening rebuilds: until then the
  /// undamaged part serves.
  public @Nullable DeviceFailed failure() {
    var damage = index.damage();
    var failed = log.failure();
    if (failed != null || damage == null) return failed;
    return new DeviceFailed(
        "the index in %s is damaged; opening the device again makes it anew from the log: %s"
            .formatted(disk.place(), damage.getMessage()),
        damage);
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

  /// Releases the disk for the next opener. Waits for background work to stop, not for readers:
  /// they get [DeviceClosed]. Unsynced commits may or may not survive a power loss; they do survive
  /// the end of the process. Idempotent.
  @Override
  public void close() {
    if (upkeep != null) upkeep.close();
    appending.lock();
    try {
      if (closed) return;
      try {
        log.ensureUsable();
        index.coverAll();
      } catch (StorageException e) {
        // The log has all of it, and the next opener rebuilds it from there.
      }
      closed = true;
      index.close();
      log.close();
      running.close();
      hold.close();
      workers.close();
    } finally {
      appending.unlock();
    }
  }
}
