package stoa.storage.index;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.storage.disk.Allowance;
import stoa.storage.disk.CorruptData;
import stoa.storage.disk.DeviceClosed;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFailed;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFull;
import stoa.storage.disk.StorageException;
import stoa.storage.disk.TornWrite;
import stoa.storage.disk.UnknownFormat;
import stoa.storage.segment.EntryOrder;
import stoa.storage.segment.Item;
import stoa.storage.segment.RecordFormat;
import stoa.storage.segment.SegmentLog;

/// The places of written bytes in the log: `(object, space, offset) → entry`. A log-structured
/// merge tree.
///
/// In the record spaces, 0 to 127, an entry is a log position and a length. In the versioned
/// spaces, 128 to 255, it also has a skip, a version and a mark. Each entry has a *stamp*, the log
/// position of the record that made it. Among the entries of a key, the one with the greatest stamp
/// counts, which is the last inserted one.
///
/// Any thread may read. One thread at a time inserts: the one that holds the device's append lock.
public final class Index {
  /*
   * Entries go to the active table. When it is full, a background task freezes it, writes it to a
   * run, and drops it. Runs of similar size that are neighbours in age are merged in the
   * background. Sources are kept newest first, and each covers a range of the log of its own, so
   * the newest source that has an offset has its latest entry.
   *
   * Invariants:
   * (1) The manifest on the disk names runs that are whole and durable, and covers only log that is
   *     durable: otherwise another record could later be at the place of an entry.
   * (2) A run's file is deleted only when no state lists it and no manifest names it.
   * (3) At most FROZEN_MAX tables are frozen: a further insert waits, or writes one itself. At most
   *     RUNS_MAX runs are live: a further table waits for a merge, or merges itself. (When a run is
   *     damaged there are no merges, and no bound until the device is opened again; nor are there
   *     while the disk has no room for one.)
   *
   * Reading: `visible` is read while `state` stays the same. Then the state has every entry below
   * it, and its runs have none above it.
   *
   * A reader may want an earlier moment. The tables keep all entries of a key, and so can show
   * earlier states; the runs have only the newest entry of each key. The entries in runs are
   * durable, and so are the deletions that the runs take into account. So the index replaces a
   * moment that is too early for the runs by a later one, which is durable too
   * ([IndexState#moment]). No reader has a moment from before the opening of the index.
   *
   * Locks, in the order they are taken: the device's append lock, `publishing` (to change the list
   * of runs, held over the write of the manifest), `changing` (to replace the state; short).
   */
  private static final Logger LOG = LoggerFactory.getLogger(Index.class);
  private static final int FROZEN_MAX = 2;

  private static final int RUNS_MAX = 40;

  // The most bytes of the log that one table covers: opening reads the log of three tables.
  private static final long TABLE_LOG_BYTES_MAX = 256 << 20;

  // The number of runs of one size class that a merge takes; the classes are powers of this.
  private static final int FAN = 4;

  private static final int SMALLEST_CLASS_BLOCKS = 16;

  private static final long RECOVERY_FACTOR_MAX = 8;

  private final Disk disk;
  private final SegmentLog log;
  private final Executor background;
  private final Allowance allowance;
  private final Births births;
  private final int memtableBytesMax;
  private final BlockCache cache;
  private final Trims trims = new Trims(this);
  private final ReentrantLock publishing = new ReentrantLock();
  private final ReentrantLock changing = new ReentrantLock();
  private final Condition idle = changing.newCondition();
  private final AtomicBoolean flushAsked = new AtomicBoolean();
  private final AtomicBoolean mergeAsked = new AtomicBoolean();
  private final AtomicBoolean forgetAsked = new AtomicBoolean();
  private volatile IndexState state;
  private volatile long visible;
  private volatile boolean closed;
  // The damage of a run: nothing is merged any more, and the manifest is gone.
  private volatile @Nullable CorruptData damage;

  // Guarded by changing.
  private boolean flushing;
  private boolean merging;
  private int nextRun;

  // Guarded by publishing.
  private long covered;
  private long flushes;
  private long merges;

  private Index(
      Disk disk,
      DeviceConfig config,
      SegmentLog log,
      Executor background,
      Births births,
      long covered,
      int nextRun,
      Run[] runs) {
    this.disk = disk;
    this.log = log;
    this.background = background;
    this.allowance = new Allowance(disk, config, log::heldBytes, log::largestBytes);
    this.births = births;
    this.memtableBytesMax = config.memtableBytesMax();
    this.cache = new BlockCache(config.cacheBytesMax());
    this.covered = covered;
    this.nextRun = nextRun;
    this.state = new IndexState(new Memtable(covered, 0), new Memtable[0], runs);
  }

  /// Opens the index of the manifest; when the manifest or a run is missing or damaged, the index
  /// is empty and covers nothing, and the caller fills it from the log again.
  public static Index open(
      Disk disk,
      DeviceConfig config,
      SegmentLog log,
      Executor background,
      Births births,
      List<String> names)
      throws IOException {
    int unused = 1;
    for (var name : names) {
      if (RunFormat.isName(name)) unused = Math.max(unused, RunFormat.number(name) + 1);
    }
    var manifest = Manifest.read(disk, names);
    if (manifest != null) {
      var runs = openRuns(disk, manifest);
      if (runs != null) {
        // A run made just before a crash has a number that its manifest does not know.
        int next = Math.max(unused, manifest.nextRun());
        var index =
            new Index(disk, config, log, background, births, manifest.covered(), next, runs);
        index.trims.open();
        return index;
      }
    }
    if (manifest == null && names.contains(DeviceFiles.MANIFEST))
      sayAnew(disk, DeviceFiles.MANIFEST + " is not whole");
    return new Index(disk, config, log, background, births, 0, unused, new Run[0]);
  }

  /// Logs why it rebuilds an existing index.
  private static void sayAnew(Disk disk, String why) {
    LOG.warn("the index in {} is made anew from the log: {}", disk.place(), why);
  }

  private static Run @Nullable [] openRuns(Disk disk, Manifest manifest) throws IOException {
    var runs = new ArrayList<Run>();
    try {
      for (var item : manifest.runs()) runs.add(Run.open(disk, item.number(), item.blocks(), 0));
      return runs.toArray(Run[]::new);
    } catch (UnknownFormat e) {
      runs.forEach(run -> run.file().close());
      throw e;
    } catch (IOException | CorruptData e) {
      // The index is derived data: the caller rebuilds the unreadable part.
      runs.forEach(run -> run.file().close());
      sayAnew(disk, String.valueOf(e.getMessage()));
      return null;
    }
  }

  /// Returns the bytes that writers may use of the disk.
  public Allowance allowance() {
    return allowance;
  }

  /// Returns the log position from which the caller must insert the log again.
  public long covered() {
    publishing.lock();
    try {
      return covered;
    } finally {
      publishing.unlock();
    }
  }

  /// Adds a RECORD, or a trim; ignores other items.
  public void insert(Item item) {
    if (item.kind == RecordFormat.ITEM_RECORD) {
      insert(item.high, item.low, item.space, item.offset, item.position, item.length);
    } else if (item.kind == RecordFormat.ITEM_TRIM) {
      trims.apply(item);
    }
  }

  /// Returns the bounds up to which record spaces are trimmed. Lookups here ignore them.
  public Trims trims() {
    return trims;
  }

  /// Adds an entry of a record space, for the item of `length` bytes at `position`, which is its
  /// stamp too.
  public void insert(long high, long low, int space, long offset, long position, int length) {
    state.active().insert(high, low, space, offset, position, length);
  }

  /// Adds an entry of a versioned space. A hole has the stamp as its position. Of the entries of
  /// one record at one key the last one counts.
  ///
  /// @param stamp the log position of the record that makes the entry; never below that of an entry
  ///   inserted before
  public void insert(long high, long low, int space, long stamp, IndexEntry entry) {
    long position = entry.isHole() ? stamp : entry.position;
    add(
        high,
        low,
        space,
        entry.offset,
        stamp,
        position,
        entry.skip,
        entry.length,
        entry.version,
        entry.mark);
  }

  /// Removes the entry of a versioned space at exactly this offset, if there is one.
  public void remove(long high, long low, int space, long offset, long stamp) {
    add(high, low, space, offset, stamp, stamp, 0, 0, 0, IndexEntry.REMOVED);
  }

  private void add(
      long high,
      long low,
      int space,
      long offset,
      long stamp,
      long position,
      int skip,
      long length,
      long version,
      int mark) {
    Objects.checkIndex(space - EntryOrder.VERSIONED, 256 - EntryOrder.VERSIONED);
    state.active().insert(high, low, space, offset, stamp, position, skip, length, version, mark);
  }

  /// Publishes to readers all entries so far, which end at a log position. Returns whether the
  /// caller must call [#flushSoon], without the append lock.
  public boolean publish(long end) {
    visible = end;
    trims.publish();
    if (!isFull(end)) return false;
    changing.lock();
    try {
      if (state.frozen().length == FROZEN_MAX) return true;
      freeze(end);
      return true;
    } finally {
      changing.unlock();
    }
  }

  private boolean isFull(long end) {
    var active = state.active();
    if (active.bytes() >= memtableBytesMax) return true;
    return end - active.from() >= TABLE_LOG_BYTES_MAX && active.seriesCount() > 0;
  }

  private void freeze(long end) {
    var old = state;
    var frozen = new Memtable[old.frozen().length + 1];
    frozen[0] = old.active();
    System.arraycopy(old.frozen(), 0, frozen, 1, frozen.length - 1);
    replace(new IndexState(new Memtable(end, old.active().seriesCount()), frozen, old.runs()));
  }

  private void replace(IndexState next) {
    var old = state;
    state = next;
    old.release();
  }

  /// Writes the frozen tables now, during recovery. An opener may read a full disk, so the tables
  /// may grow beyond their bound, within limits.
  public void flushNow() {
    try {
      while (flushOldest()) {
        // Each call writes one table.
      }
      mergeSoon();
    } catch (DiskFull e) {
      if (tableBytes() > RECOVERY_FACTOR_MAX * memtableBytesMax) throw e;
    }
  }

  /// Returns whether a run file belongs to the index.
  public boolean uses(String name) {
    for (var run : state.runs()) {
      if (RunFormat.name(run.number()).equals(name)) return true;
    }
    return false;
  }

  /// Returns when there is room for more entries; writes a frozen table itself when no other thread
  /// does.
  ///
  /// @throws DiskFull when the disk has no room for it
  public void awaitRoom() {
    if (!isFull(visible)) return;
    while (state.frozen().length == FROZEN_MAX) {
      if (!flushOldest()) await(Work.FLUSH);
    }
    changing.lock();
    try {
      freeze(visible);
    } finally {
      changing.unlock();
    }
  }

  private void await(Work work) {
    changing.lock();
    try {
      while (!closed && (work == Work.FLUSH ? flushing : merging)) idle.awaitUninterruptibly();
    } finally {
      changing.unlock();
    }
    if (closed) throw closedException();
  }

  /// Prepares for [#awaitCovered]. The caller holds the append lock.
  ///
  /// @throws DiskFull when the disk has no room for the bytes that it must write first
  public void freezeAll() {
    while (state.frozen().length == FROZEN_MAX) {
      if (!flushOldest()) await(Work.FLUSH);
    }
    changing.lock();
    try {
      if (state.active().from() < visible) freeze(visible);
    } finally {
      changing.unlock();
    }
  }

  /// Returns when the manifest covers everything that was there at [#freezeAll].
  ///
  /// @throws DiskFull when the disk has no room for it
  public void awaitCovered() {
    while (state.frozen().length > 0) {
      if (!flushOldest()) await(Work.FLUSH);
    }
    mergeSoon();
  }

  /// Writes the tables before the device closes: the next opener need not read the log again, and
  /// notices when its end is missing.
  ///
  /// @throws DiskFull when the disk has no room for it
  public void coverAll() {
    if (state.active().seriesCount() > 0) freezeAll();
    while (state.frozen().length > 0) {
      if (!flushOldest()) await(Work.FLUSH);
    }
  }

  /// Schedules a background write of the frozen tables.
  public void flushSoon() {
    ask(flushAsked, this::flushAll);
  }

  private void ask(AtomicBoolean asked, Runnable task) {
    if (!asked.compareAndSet(false, true)) return;
    Runnable run =
        () -> {
          asked.set(false);
          attempt(task);
        };
    try {
      background.execute(run);
    } catch (RejectedExecutionException e) {
      run.run(); // the executor is shut down, but the tables must not pile up
    }
  }

  private void attempt(Runnable task) {
    try {
      task.run();
    } catch (DiskFull | DeviceFailed | DeviceClosed e) {
      // The next full table tries again; until then the tables stay in the heap, and an append
      // beyond their bound fails.
    } catch (CorruptData e) {
      // Readers of the damaged part get the exception. The log is whole, so opening the device
      // again rebuilds the index.
      noteDamage(e);
      forgetIndex();
    } catch (RuntimeException | Error e) {
      log.fail(e);
      throw e;
    }
  }

  private void forgetSoon(CorruptData found) {
    noteDamage(found);
    ask(forgetAsked, this::forgetIndex);
  }

  private void noteDamage(CorruptData found) {
    if (damage != null) return;
    damage = found;
    LOG.error("the index in {} is damaged: {}", disk.place(), found.getMessage());
  }

  /// Returns the first damage of the index that an operation has met; null when none has. Opening
  /// the device again rebuilds the index.
  public @Nullable CorruptData damage() {
    return damage;
  }

  /// Removes the manifest: the next opening of the device rebuilds the index from the log. Until
  /// then the undamaged part serves.
  private void forgetIndex() {
    publishing.lock();
    try {
      if (closed) return; // the next opener may have made another one
      if (disk.list().contains(DeviceFiles.MANIFEST)) disk.delete(DeviceFiles.MANIFEST);
      disk.syncDirectory();
    } catch (IOException e) {
      log.fail(e);
    } finally {
      publishing.unlock();
    }
  }

  private void flushAll() {
    while (flushOldest()) {
      // Each call writes one table.
    }
    mergeSoon();
  }

  private void mergeSoon() {
    if (chooseMerge().length > 0) ask(mergeAsked, this::mergeAll);
  }

  /// Writes the oldest frozen table to a run. Returns false when there is none, or another thread
  /// does it.
  private boolean flushOldest() {
    Memtable table;
    int number;
    changing.lock();
    try {
      var frozen = state.frozen();
      if (flushing || frozen.length == 0) return false;
      if (closed) throw closedException();
      flushing = true;
      table = frozen[frozen.length - 1];
      number = nextRun++;
    } finally {
      changing.unlock();
    }
    try {
      limitRuns();
      log.sync();
      var run = write(table, number, to(table));
      publish(new Run[0], run, table);
      return true;
    } catch (IOException e) {
      throw log.fail(e);
    } finally {
      ended(Work.FLUSH);
    }
  }

  private enum Work {
    FLUSH,
    MERGE
  }

  private void ended(Work work) {
    changing.lock();
    try {
      switch (work) {
        case FLUSH -> flushing = false;
        case MERGE -> merging = false;
      }
      idle.signalAll();
    } finally {
      changing.unlock();
    }
  }

  /// Returns the log position at which a frozen table's range ends.
  private long to(Memtable table) {
    var s = state;
    long to = s.active().from();
    for (var frozen : s.frozen()) {
      if (frozen.from() == table.from()) return to;
      to = frozen.from();
    }
    throw new IllegalStateException("broken invariant: the table being written is frozen");
  }

  private Run write(Memtable table, int number, long to) throws IOException {
    boolean oldest = state.runs().length == 0;
    return write(
        number,
        table.from(),
        to,
        oldest,
        pruner -> {
          for (var series : table.sorted()) {
            if (closed) throw closedException();
            series.writeTo(pruner);
          }
        });
  }

  private Run write(int number, long from, long to, boolean oldest, EntrySource source)
      throws IOException {
    var name = RunFormat.name(number);
    int blocks;
    long moment;
    try (var file = disk.create(name);
        var view = view(log.durable())) {
      var writer = new RunWriter(file, number);
      source.writeTo(new Pruner(writer, oldest, births, trims.walk(view), view));
      moment = view.limit();
      blocks = writer.finish(from, to);
    } catch (StorageException e) {
      disk.delete(name);
      throw e;
    } catch (TornWrite e) {
      disk.delete(name);
      throw e.nothingWritten();
    }
    disk.syncDirectory();
    return Run.open(disk, number, blocks, moment);
  }

  /// Replaces the merged runs, or the written table, by a new run, in the manifest and then in the
  /// state.
  private void publish(Run[] sources, Run run, @Nullable Memtable table) throws IOException {
    run.use(); // until a state has it
    publishing.lock();
    try {
      var runs = replaceRuns(state.runs(), sources, run);
      long nowCovered = table == null ? covered : run.to();
      if (damage == null) writeManifest(nowCovered, runs);
      covered = nowCovered;
      if (table == null) merges++;
      else flushes++;
      for (var source : sources) source.markReplaced();
      changing.lock();
      try {
        var old = state;
        var frozen = old.frozen();
        if (table != null) frozen = Arrays.copyOf(frozen, frozen.length - 1);
        replace(new IndexState(old.active(), frozen, runs));
      } finally {
        changing.unlock();
      }
    } catch (DiskFull e) {
      run.markReplaced(); // no manifest names it, and its room is needed
      throw e;
    } finally {
      publishing.unlock();
      run.release();
    }
  }

  private static Run[] replaceRuns(Run[] runs, Run[] sources, Run run) {
    var result = new ArrayList<>(List.of(runs));
    int at = sources.length == 0 ? 0 : result.indexOf(sources[0]);
    result.removeAll(List.of(sources));
    result.add(at, run);
    return result.toArray(Run[]::new);
  }

  private void writeManifest(long nowCovered, Run[] runs) throws IOException {
    int unused;
    changing.lock();
    try {
      unused = nextRun;
    } finally {
      changing.unlock();
    }
    var items = new ArrayList<Manifest.Item>();
    for (var run : runs) items.add(new Manifest.Item(run.number(), run.blocks()));
    new Manifest(nowCovered, unused, List.copyOf(items)).write(disk);
  }

  private void mergeAll() {
    while (mergeOnce()) {
      // Each call does one.
    }
  }

  /// Merges some runs. Returns false when there is nothing to merge, or another thread does it.
  private boolean mergeOnce() {
    int number;
    Run[] sources;
    changing.lock();
    try {
      if (merging || closed || damage != null) return false;
      sources = chooseMerge();
      if (sources.length == 0) return false;
      sources = fitting(sources);
      merging = true;
      number = nextRun++;
      for (var source : sources) source.use();
    } finally {
      changing.unlock();
    }
    try {
      publish(sources, merge(sources, number), null);
      return true;
    } catch (IOException e) {
      throw log.fail(e);
    } finally {
      for (var source : sources) source.release();
      ended(Work.MERGE);
    }
  }

  /// Returns the oldest of neighboring runs for which there is room: a merge frees room only when
  /// it is done.
  private Run[] fitting(Run[] sources) {
    for (int from = 0; from < sources.length - 1; from++) {
      var fewer = Arrays.copyOfRange(sources, from, sources.length);
      if (allowance.hasRoomToMerge(mergedBytesMax(fewer))) return fewer;
    }
    throw new DiskFull("the disk has no room to merge %d runs".formatted(sources.length));
  }

  private static long mergedBytesMax(Run[] sources) {
    long blocks = RunFormat.BLOCKS_LEAST;
    for (var source : sources) {
      blocks += Math.max(1, source.blocks() - RunFormat.BLOCKS_LEAST);
    }
    return blocks * RunFormat.BLOCK;
  }

  /// Returns when the runs are few enough for another one; merges some itself when no other thread
  /// does.
  private void limitRuns() {
    try {
      while (state.runs().length >= RUNS_MAX && damage == null) {
        if (!mergeOnce()) await(Work.MERGE);
      }
    } catch (CorruptData e) {
      noteDamage(e);
      forgetIndex();
    } catch (DiskFull e) {
      // More runs slow reading down; but without this one the device could give up nothing any
      // more.
    }
  }

  /// Returns neighboring runs of which FAN are of one size class and the others of smaller ones;
  /// when there are none, but too many runs, the newer ones.
  private Run[] chooseMerge() {
    var runs = state.runs();
    for (int size = 0; size < 16; size++) {
      int start = 0;
      while (start < runs.length) {
        int end = start;
        int ofSize = 0;
        while (end < runs.length && sizeClass(runs[end]) <= size) {
          if (sizeClass(runs[end]) == size) ofSize++;
          end++;
        }
        if (ofSize >= FAN) return Arrays.copyOfRange(runs, start, end);
        start = end + 1;
      }
    }
    return runs.length < RUNS_MAX ? new Run[0] : Arrays.copyOf(runs, RUNS_MAX / 2);
  }

  private static int sizeClass(Run run) {
    int size = 0;
    for (long blocks = run.blocks(); blocks >= FAN * SMALLEST_CLASS_BLOCKS; blocks /= FAN) size++;
    return size;
  }

  private Run merge(Run[] sources, int number) throws IOException {
    long from = sources[sources.length - 1].from();
    long to = sources[0].to();
    var runs = state.runs();
    boolean oldest = sources[sources.length - 1] == runs[runs.length - 1];
    return write(
        number,
        from,
        to,
        oldest,
        pruner -> {
          var merge = new RunMerge(sources);
          long steps = 0;
          while (merge.next()) {
            if ((++steps & 0xffff) == 0 && closed) throw closedException();
            var entry = merge.entry();
            pruner.add(
                entry.high,
                entry.low,
                entry.space,
                entry.offset,
                entry.position,
                entry.skip,
                entry.length,
                entry.version,
                entry.mark);
          }
        });
  }

  @FunctionalInterface
  private interface EntrySource {
    void writeTo(Pruner pruner) throws IOException;
  }

  /// Puts the latest entry at the greatest offset at or below `offset` of a record space into an
  /// empty `found`.
  public void floor(long high, long low, int space, long offset, IndexEntry found)
      throws IOException {
    while (true) {
      var s = state;
      long limit = visible;
      if (s != state) continue;
      s.floorInTables(limit, high, low, space, offset, found);
      if (found.offset == offset || s.runs().length == 0) return;
      if (!s.acquire()) {
        if (closed) throw closedException();
        found.clear();
        continue;
      }
      try {
        s.floorInRuns(cache, high, low, space, offset, found);
        return;
      } catch (CorruptData e) {
        forgetSoon(e);
        throw e;
      } finally {
        s.release();
      }
    }
  }

  /// Begins a walk over the present entries of a series.
  public IndexScan scan(long high, long low, int space, long from) throws IOException {
    try (var view = view(visible)) {
      return view.scan(high, low, space, from);
    }
  }

  /// Returns the index as readers see it now.
  public IndexView view() {
    return view(visible);
  }

  /// Returns the index at the moment at which the log ended at `limit`: for several lookups that
  /// belong together.
  ///
  /// A limit beyond the readers' view stands for that view. A limit below the end of the newest run
  /// stands for that end, which is durable. So a reader with the durable end of the log as its
  /// limit sees that moment or a later one that is durable as well.
  ///
  /// [Long#MAX_VALUE] is for the inserting thread: its lookups see its latest inserts too. Such a
  /// view is valid until the next [#publish] or [#awaitRoom].
  public IndexView view(long limit) {
    while (true) {
      var s = state;
      long shown = visible;
      if (s != state) continue;
      if (!s.acquire()) {
        if (closed) throw closedException();
        continue;
      }
      long moment = limit == Long.MAX_VALUE ? limit : Math.max(s.moment(), Math.min(limit, shown));
      return new IndexView(s, cache, this::forgetSoon, moment);
    }
  }

  /// Returns the number of runs.
  public int runCount() {
    return state.runs().length;
  }

  /// Returns the number of bytes of the runs.
  public long runBytes() {
    long blocks = 0;
    for (var run : state.runs()) blocks += run.blocks();
    return blocks * RunFormat.BLOCK;
  }

  /// Returns the number of entries of the runs.
  public long runEntries() {
    long entries = 0;
    for (var run : state.runs()) entries += run.entries();
    return entries;
  }

  /// Returns the number of bytes of the tables in the heap.
  public long tableBytes() {
    var s = state;
    long bytes = s.active().bytes();
    for (var table : s.frozen()) bytes += table.bytes();
    return bytes;
  }

  /// Returns the number of tables written as runs.
  public long flushes() {
    publishing.lock();
    try {
      return flushes;
    } finally {
      publishing.unlock();
    }
  }

  /// Returns the number of merges of runs.
  public long merges() {
    publishing.lock();
    try {
      return merges;
    } finally {
      publishing.unlock();
    }
  }

  private DeviceClosed closedException() {
    return new DeviceClosed("the device in " + disk.place() + " was closed");
  }

  /// Ends background work and closes the runs after the last reader. The log has the entries of the
  /// tables as well.
  public void close() {
    if (damage != null) forgetIndex(); // the background may not have done it
    changing.lock();
    try {
      closed = true;
      idle.signalAll();
      while (flushing || merging) idle.awaitUninterruptibly();
    } finally {
      changing.unlock();
    }
    // A thread that is removing the manifest is done then, or sees that the index is closed.
    publishing.lock();
    try {
      state.release();
    } finally {
      publishing.unlock();
    }
  }
}
