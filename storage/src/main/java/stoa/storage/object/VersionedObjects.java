package stoa.storage.object;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.storage.disk.DiskFull;
import stoa.storage.disk.ReadFailed;
import stoa.storage.disk.TransactionLimits;
import stoa.storage.index.Index;
import stoa.storage.index.IndexEntry;
import stoa.storage.index.IndexView;
import stoa.storage.index.Spaces;
import stoa.storage.segment.Commit;
import stoa.storage.segment.GroupCommit;
import stoa.storage.segment.Operation;
import stoa.storage.segment.RecordFormat;
import stoa.storage.segment.SegmentLog;

/// All versioned objects of a device: the writes to the log for them, and the open transactions.
/// Thread-safe.
public final class VersionedObjects {
  // The approximate bytes of an operation in the log beside its data.
  private static final int OPERATION_BYTES = 256;

  // The estimate of the bytes that the end of an object or snapshot, or a hole, gives up.
  private static final long GIVEN_UP_BY_A_NOTE = 16 << 20;

  private static final long GIVEN_UP_BY_A_HOLE = 1 << 20;

  /// In place of a version: the next one at the time of the write.
  static final long NEXT = 0;

  // The most snapshots of one object, forks of it, and forks of forks.
  private static final int SNAPSHOTS_MAX = 64;
  private static final int FORKS_MAX = 1024;
  private static final int DEPTH_MAX = 8;

  private final SegmentLog log;
  private final Index index;
  private final ObjectChanges changes;
  private final GroupCommit commits;
  private final Set<WriteTransaction> open = ConcurrentHashMap.newKeySet();
  private final AtomicInteger openCount = new AtomicInteger();
  private final LongConsumer makeRoom;
  private final Runnable unpinned;
  private final TransactionLimits limits;
  private final ReadQueue reading;
  private volatile boolean syncing = true;
  private final ReentrantReadWriteLock retiring = new ReentrantReadWriteLock();

  /// @param makeRoom returns when there is room for as many bytes, or throws [DiskFull]
  /// @param unpinned runs when a transaction or reader no longer keeps segments from being
  ///   reclaimed
  /// @param limits of open transactions
  /// @param reading does the reads of callers that do not wait
  public VersionedObjects(
      SegmentLog log,
      Index index,
      ObjectChanges changes,
      GroupCommit commits,
      LongConsumer makeRoom,
      Runnable unpinned,
      TransactionLimits limits,
      ReadQueue reading) {
    this.limits = limits;
    this.reading = reading;
    this.makeRoom = makeRoom;
    this.unpinned = unpinned;
    this.log = log;
    this.index = index;
    this.changes = changes;
    this.commits = commits;
  }

  SegmentLog log() {
    return log;
  }

  TransactionLimits limits() {
    return limits;
  }

  ReadQueue reading() {
    return reading;
  }

  /// From now on operations are done when they are appended, and readers see them then.
  public void useExternalSync() {
    syncing = false;
  }

  /// Does an operation, which is durable on return, unless the owner syncs.
  boolean run(Operation operation) {
    makeRoom(operation);
    return syncing ? commits.run(operation) : commits.append(operation);
  }

  /// Makes room for an operation. One that only removes may use the reserved room; so may one that
  /// replicas have agreed on.
  private void makeRoom(Operation operation) {
    if (!syncing || operation.onlyTakes()) return;
    try {
      makeRoom.accept(operation.bytes() + OPERATION_BYTES);
    } catch (DiskFull full) {
      operation.done.completeExceptionally(full); // others may wait for it
      throw full;
    }
  }

  /// Does an operation like [#run], in the reserved room.
  boolean runReserved(Operation operation) {
    return syncing ? commits.run(operation) : commits.append(operation);
  }

  /// Does an operation, which is durable on return.
  public boolean runDurably(Operation operation) {
    return commits.run(operation);
  }

  CompletableFuture<Boolean> submit(Operation operation) {
    try {
      makeRoom(operation);
    } catch (DiskFull full) {
      return operation.done;
    }
    if (syncing) return commits.submit(operation);
    commits.append(operation);
    return operation.done;
  }

  /// Keeps every segment while it is held.
  Hold hold() {
    retiring.readLock().lock();
    return () -> {
      retiring.readLock().unlock();
      unpinned.run();
    };
  }

  /// Returns the lock that is held while segments are retired.
  public Lock retiring() {
    return retiring.writeLock();
  }

  /// A use by the thread that got it, until it is closed.
  interface Hold extends AutoCloseable {
    @Override
    void close();
  }

  /// Returns the index as readers of objects see it: as of the last durable commit, unless the
  /// owner syncs.
  public IndexView shown() {
    return syncing ? index.view(log.durable()) : index.view();
  }

  /// Returns the item of an attribute: its name and value.
  byte[] attribute(StreamId object, IndexEntry entry) {
    return log.read(
        ObjectNote.ATTRIBUTE,
        entry.position,
        (int) entry.length,
        object.high(),
        object.low(),
        Spaces.ATTRIBUTES,
        entry.offset);
  }

  /// @param version may be [#NEXT]
  WriteTransaction begin(VersionedObject object, long version) {
    if (openCount.incrementAndGet() > limits.openMax()) {
      openCount.decrementAndGet();
      throw new IllegalStateException(
          limits.openMax()
              + " write transactions are open, which is the limit; end some of them (Device.openTransactions lists them)");
    }
    try (var view = index.view(log.end())) {
      long birth = ObjectLookup.birth(view, object.id(), new IndexEntry());
      var transaction = new WriteTransaction(this, object, version, birth);
      open.add(transaction);
      return transaction;
    } catch (IOException e) {
      openCount.decrementAndGet();
      throw unreadable(e);
    }
  }

  /// @param wrote whether it has parts in the log
  void ended(WriteTransaction transaction, boolean wrote) {
    if (!open.remove(transaction)) return;
    openCount.decrementAndGet();
    if (wrote) unpinned.run();
  }

  /// Returns the highest version of an open transaction on an object, or 0.
  long highestOpen(StreamId object) {
    long highest = 0;
    for (var transaction : open) {
      if (transaction.object().id().equals(object)) {
        highest = Math.max(highest, transaction.version());
      }
    }
    return highest;
  }

  /// Returns the log position from which on open transactions have parts. The caller holds the
  /// append lock.
  public long oldestOpen() {
    long oldest = Long.MAX_VALUE;
    for (var transaction : open) oldest = Math.min(oldest, transaction.oldest());
    return oldest;
  }

  /// Returns the open transactions, those that keep most first. The caller holds the append lock.
  public List<OpenTransaction> openTransactions() {
    var all = new ArrayList<OpenTransaction>();
    for (var transaction : open) all.add(transaction.report(log.end()));
    all.sort(Comparator.comparingLong(OpenTransaction::keptBytes).reversed());
    return List.copyOf(all);
  }

  /// Returns the number of open transactions.
  public int openCount() {
    return openCount.get();
  }

  /// Aborts the transactions that keep more of the log than they may, and returns them. The caller
  /// holds the append lock.
  public List<OpenTransaction> abortForgotten() {
    if (log.end() - oldestOpen() <= limits.keptBytesMax()) return List.of();
    var aborted = new ArrayList<OpenTransaction>();
    for (var transaction : open) {
      var report = transaction.report(log.end());
      if (report.keptBytes() > limits.keptBytesMax() && transaction.forget()) aborted.add(report);
    }
    return List.copyOf(aborted);
  }

  static void requireVersion(long version) {
    if (version < 1 || version == Long.MAX_VALUE) {
      throw new IllegalArgumentException(
          "version is " + version + "; it must be from 1 to 2^63 - 2");
    }
  }

  static void requireRange(long offset, long length) {
    if (offset < 0 || offset > Long.MAX_VALUE - length) {
      throw new IllegalArgumentException(
          "%d bytes at offset %d: offsets go from 0 to 2^63 - 2".formatted(length, offset));
    }
  }

  ReadFailed unreadable(IOException e) {
    return new ReadFailed("the device's index cannot be read: " + e, e);
  }

  /// Adds the bytes of a buffer to a record, in items of bounded size, and returns their places.
  private static long[] addData(Commit record, StreamId object, long offset, ByteBuffer data) {
    int max = Commit.DATA_BYTES_MAX;
    var places = new long[(data.remaining() + max - 1) / max];
    var rest = data.duplicate();
    int end = rest.limit();
    long at = offset;
    for (int i = 0; i < places.length; i++) {
      int length = Math.min(max, end - rest.position());
      rest.limit(rest.position() + length);
      places[i] = record.data(object, Spaces.BYTES, at, rest);
      rest.position(rest.limit()).limit(end);
      at += length;
    }
    return places;
  }

  /// Adds the pieces of bytes that [#addData] has divided to a list.
  static void addPieces(Pieces pieces, long offset, long length, long[] positions, long version) {
    var piece = new IndexEntry();
    long at = offset;
    for (long position : positions) {
      long n = Math.min(Commit.DATA_BYTES_MAX, offset + length - at);
      pieces.add(piece.set(at, position, 0, n, version, IndexEntry.DATA));
      at += n;
    }
  }

  /// A part of an open transaction.
  static final class DataWrite extends Operation {
    private final WriteTransaction transaction;
    private final WriteTransaction.Part part;
    private final Commit record = new Commit();
    private final long[] places;

    DataWrite(WriteTransaction transaction, WriteTransaction.Part part, ByteBuffer data) {
      this.transaction = transaction;
      this.part = part;
      this.places = addData(record, transaction.object().id(), part.offset, data);
    }

    WriteTransaction.Part part() {
      return part;
    }

    @Override
    public Commit record() {
      return record;
    }

    @Override
    public long rank() {
      return 0; // its place in the log does not matter
    }

    @Override
    public long bytes() {
      return part.length;
    }

    @Override
    public boolean apply(long at) {
      var positions = places.clone();
      for (int i = 0; i < positions.length; i++) positions[i] += at;
      transaction.placed(part, positions);
      return true;
    }
  }

  /// Returns the end of a transaction, with its earlier writes.
  ChangeWrite commit(
      StreamId object,
      long version,
      long birth,
      List<WriteTransaction.Part> parts,
      Map<String, byte[]> attributes,
      List<String> removed) {
    var map = new PartMap();
    for (var part : parts) {
      if (part.hole) map.truncate(part.offset);
      long at = part.offset;
      for (long position : part.positions) {
        long length = Math.min(Commit.DATA_BYTES_MAX, part.offset + part.length - at);
        map.cover(at, length, position);
        at += length;
      }
    }
    var change = new ChangeWrite(object, version, birth);
    map.addTo(change.extents, version);
    for (var attribute : attributes.entrySet())
      change.set(attribute.getKey(), attribute.getValue());
    for (var name : removed) change.remove(name);
    return change;
  }

  /// Returns a transaction of one write: its data and its end in one record.
  ///
  /// @param version may be [#NEXT]
  ChangeWrite write(StreamId object, long version, long offset, ByteBuffer data) {
    requireRange(offset, data.remaining());
    var change = new ChangeWrite(object, version, ChangeWrite.NOW);
    change.bytes = data.remaining();
    var places = addData(change.record, object, offset, data);
    for (int i = 0; i < places.length; i++) places[i] |= ObjectNote.IN_RECORD;
    addPieces(change.extents, offset, data.remaining(), places, version);
    return change;
  }

  /// Returns the versions from a peer.
  ///
  /// @param extents of data that is in the log already
  ChangeWrite bring(StreamId object, long birth, VersionState versions, Pieces extents) {
    return new ChangeWrite(object, versions, birth, extents);
  }

  /// Returns versions without data.
  ChangeWrite skip(StreamId object, VersionState versions) {
    return new ChangeWrite(object, versions, ChangeWrite.NOW, new Pieces());
  }

  /// Returns the deletion of an object.
  Operation deletion(StreamId object) {
    return new NoteWrite(object) {
      @Override
      public boolean admit() throws IOException {
        var head = changes.head(object);
        if (!head.snapshots.isEmpty()) {
          throw new IllegalStateException(
              "object %s has %d snapshots; release them before it is deleted"
                  .formatted(object, head.snapshots.size()));
        }
        return head.topLast > 0;
      }

      @Override
      ObjectNote note() {
        return new ObjectNote.Deleted(0);
      }
    };
  }

  /// Returns a snapshot of an object at the time of the write.
  ///
  /// @param number its number; 0 for the log position of its note
  NoteWrite snapshot(StreamId object, long number) {
    return new NoteWrite(object) {
      @Override
      public boolean admit() throws IOException {
        var head = changes.head(object);
        if (number != 0 && head.snapshot(number) != null) return false;
        if (head.topLast == 0) {
          throw new IllegalStateException(
              "object %s does not exist; write to it before a snapshot".formatted(object));
        }
        if (head.snapshots.size() >= SNAPSHOTS_MAX) {
          throw new IllegalStateException(
              "object %s has %d snapshots, which is the limit; release some"
                  .formatted(object, SNAPSHOTS_MAX));
        }
        return true;
      }

      @Override
      ObjectNote note() throws IOException {
        try (var view = index.view(Long.MAX_VALUE)) {
          var birth = changes.head(object).birth;
          return new ObjectNote.Snapshot(number, ObjectLookup.state(view, object, birth));
        }
      }
    };
  }

  /// Returns the beginning of an object as a snapshot of another one.
  Operation fork(StreamId object, StreamId origin, long number) {
    return new NoteWrite(object) {
      @Override
      public boolean admit() throws IOException {
        var head = changes.head(object);
        if (head.topLast > 0) {
          throw new IllegalStateException(
              "object %s exists; choose another id, or delete it first".formatted(object));
        }
        if (changes.head(origin).snapshot(number) == null) {
          throw new IllegalStateException(
              "snapshot %d of object %s was released; make another".formatted(number, origin));
        }
        if (changes.forks(origin, 0) >= FORKS_MAX || changes.hasFork(origin, object)) {
          throw new IllegalStateException(
              "object %s has %d forks, which is the limit, or one with an id like %s; delete some, or choose another id"
                  .formatted(origin, FORKS_MAX, object));
        }
        if (changes.depth(origin) >= DEPTH_MAX) {
          throw new IllegalStateException(
              "object %s is %d times a fork of a fork, which is the limit; copy it instead"
                  .formatted(origin, DEPTH_MAX));
        }
        return true;
      }

      @Override
      ObjectNote note() throws IOException {
        var snapshot = changes.head(origin).snapshot(number);
        if (snapshot == null) throw new IllegalStateException("broken invariant: it was admitted");
        return new ObjectNote.Forked(changes.head(object).birth, origin, number, snapshot.state());
      }

      @Override
      public boolean onlyTakes() {
        return false;
      }

      @Override
      public long givesUp() {
        return 0;
      }
    };
  }

  /// Returns the release of a snapshot.
  Operation release(StreamId object, long number) {
    return new NoteWrite(object) {
      @Override
      public boolean admit() throws IOException {
        if (changes.head(object).snapshot(number) == null) return false;
        int forks = changes.forks(object, number);
        if (forks == 0) return true;
        throw new IllegalStateException(
            "snapshot %d of object %s has %d forks; delete them before it is released"
                .formatted(number, object, forks));
      }

      @Override
      ObjectNote note() {
        return new ObjectNote.Released(number);
      }
    };
  }

  /// A note by itself, created from the state after everything before it.
  abstract class NoteWrite extends Operation {
    private final StreamId object;
    private final Commit record = new Commit();
    private @Nullable ObjectNote note;
    private int place;
    private int length;
    private long position;

    NoteWrite(StreamId object) {
      this.object = object;
    }

    abstract ObjectNote note() throws IOException;

    /// Returns the position of the note, once it is done.
    long position() {
      return position;
    }

    @Override
    public boolean alone() {
      return true;
    }

    @Override
    public Commit record() throws IOException {
      note = note();
      var scratch = new Encoder(64);
      place = note.addTo(record, object, scratch);
      length = scratch.size();
      return record;
    }

    @Override
    public long bytes() {
      return RecordFormat.RECORD_HEADER;
    }

    @Override
    public long givesUp() {
      return GIVEN_UP_BY_A_NOTE;
    }

    @Override
    public boolean apply(long at) throws IOException {
      var written = note;
      if (written == null) throw new IllegalStateException("broken invariant: it was recorded");
      position = at + place;
      return changes.apply(object, written, position, at, length);
    }
  }

  /// A change of an object in one record.
  final class ChangeWrite extends Operation {
    /// In place of a birth: the object's own at the time of the write.
    static final long NOW = -1;

    final StreamId object;
    // Empty for the next version.
    private VersionState versions;
    private final long birth;
    final Commit record = new Commit();
    final Pieces extents;
    final Pieces attributes = new Pieces();
    long bytes;
    private ObjectNote.@Nullable Change note;
    private int place;

    ChangeWrite(StreamId object, long version, long birth) {
      this(object, only(version), birth, new Pieces());
    }

    private static VersionState only(long version) {
      if (version == NEXT) return VersionState.EMPTY;
      return VersionState.of(List.of(new VersionRange(version, version)));
    }

    /// Returns the written version, once this is done.
    long version() {
      return versions.highest();
    }

    ChangeWrite(StreamId object, VersionState versions, long birth, Pieces extents) {
      this.object = object;
      this.versions = versions;
      this.birth = birth;
      this.extents = extents;
    }

    void set(String name, byte[] item) {
      put(AttributeName.slot(name), versions.highest(), item);
    }

    void remove(String name) {
      put(AttributeName.slot(name), versions.highest(), null);
    }

    void put(long slot, long version, byte @Nullable [] item) {
      var piece = new IndexEntry();
      if (item == null) {
        attributes.add(piece.set(slot, -1, 0, 1, version, IndexEntry.HOLE));
        return;
      }
      long at =
          record.note(ObjectNote.ATTRIBUTE, object, Spaces.ATTRIBUTES, slot, item, 0, item.length);
      long position = at | ObjectNote.IN_RECORD;
      attributes.add(piece.set(slot, position, 0, item.length, version, IndexEntry.DATA));
    }

    @Override
    public boolean admit() throws IOException {
      var head = changes.head(object);
      if (birth != NOW && birth != head.birth) {
        throw new IllegalStateException(
            "object %s was deleted after this transaction began; begin another".formatted(object));
      }
      if (versions.highest() == NEXT) return true;
      for (var range : versions.ranges()) {
        if (!changes.has(head, range)) return true;
      }
      return false;
    }

    @Override
    public Commit record() throws IOException {
      var head = changes.head(object);
      long now = birth == NOW ? head.birth : birth;
      if (versions.highest() == NEXT) {
        long next = head.next();
        if (next == Long.MAX_VALUE) {
          throw new IllegalStateException(
              "object %s has the greatest version; write older ones, or another object"
                  .formatted(object));
        }
        versions = only(next);
        extents.version(next);
        attributes.version(next);
      }
      head.given(versions.highest());
      note = new ObjectNote.Change(ObjectNote.COMMIT, now, 0, versions, extents, attributes);
      place = note.addTo(record, object, new Encoder(64));
      return record;
    }

    @Override
    public long bytes() {
      return bytes;
    }

    @Override
    public long rank() {
      return versions.highest() == NEXT ? -1 : versions.highest();
    }

    @Override
    public boolean onlyTakes() {
      int holes = extents.holes() + attributes.holes();
      return holes > 0 && holes == extents.count() + attributes.count();
    }

    @Override
    public long givesUp() {
      boolean takes = extents.holes() + attributes.holes() > 0;
      return takes ? Math.max(bytes, GIVEN_UP_BY_A_HOLE) : bytes;
    }

    @Override
    public boolean apply(long at) throws IOException {
      var written = note;
      if (written == null) throw new IllegalStateException("broken invariant: it was recorded");
      extents.resolve(at);
      attributes.resolve(at);
      return changes.apply(object, written, at + place, at, 0);
    }
  }
}
