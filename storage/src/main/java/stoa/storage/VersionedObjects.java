package stoa.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import stoa.base.Encoder;
import stoa.base.StreamId;

/// All versioned objects of a device: what is written to the log for them, and the transactions that
/// are open. Thread-safe.
final class VersionedObjects {
  private static final int OPEN_MAX = 1 << 16;

  private final SegmentLog log;
  private final Index index;
  private final ObjectChanges changes;
  private final GroupCommit commits;
  private final Set<WriteTransaction> open = ConcurrentHashMap.newKeySet();
  private final AtomicInteger openCount = new AtomicInteger();

  VersionedObjects(SegmentLog log, Index index, ObjectChanges changes, GroupCommit commits) {
    this.log = log;
    this.index = index;
    this.changes = changes;
    this.commits = commits;
  }

  SegmentLog log() {
    return log;
  }

  boolean run(Operation operation) {
    return commits.run(operation);
  }

  CompletableFuture<Boolean> submit(Operation operation) {
    return commits.submit(operation);
  }

  /// The index as of the last durable commit.
  IndexView durable() {
    return index.view(log.durable());
  }

  WriteTransaction begin(VersionedObject object, long version) {
    requireVersion(version);
    if (openCount.incrementAndGet() > OPEN_MAX) {
      openCount.decrementAndGet();
      throw new IllegalStateException(
          OPEN_MAX + " write transactions are open, which is the limit; end some of them");
    }
    try (var view = index.view(log.end())) {
      long birth = ObjectLookup.birth(view, object.id(), new Entry());
      var transaction = new WriteTransaction(this, object, version, birth);
      open.add(transaction);
      return transaction;
    } catch (IOException e) {
      openCount.decrementAndGet();
      throw unreadable(e);
    }
  }

  void ended(WriteTransaction transaction) {
    if (open.remove(transaction)) openCount.decrementAndGet();
  }

  /// The highest version of an open transaction on an object, or 0.
  long highestOpen(StreamId object) {
    long highest = 0;
    for (var transaction : open) {
      if (transaction.object().id().equals(object)) {
        highest = Math.max(highest, transaction.version());
      }
    }
    return highest;
  }

  /// The log position from which on open transactions have parts. Called under the append lock.
  long oldestOpen() {
    long oldest = Long.MAX_VALUE;
    for (var transaction : open) oldest = Math.min(oldest, transaction.oldest());
    return oldest;
  }

  static void requireVersion(long version) {
    if (version < 1 || version == Long.MAX_VALUE) {
      throw new IllegalArgumentException("version is " + version + "; it must be at least 1");
    }
  }

  static void requireRange(long offset, long length) {
    if (offset < 0 || offset > Long.MAX_VALUE - length) {
      throw new IllegalArgumentException(
          "%d bytes at offset %d are not within 0 and 2^63 - 1".formatted(length, offset));
    }
  }

  ReadFailed unreadable(IOException e) {
    return new ReadFailed("the device's index cannot be read: " + e, e);
  }

  /// Adds the bytes of a buffer to a record, in items of bounded size, and answers their places.
  private static long[] addData(Commit record, StreamId object, long offset, ByteBuffer data) {
    int max = RecordFormat.DATA_BYTES_MAX;
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

  /// Adds the pieces of bytes that were divided as in [#addData] to a list.
  private static void addPieces(
      Pieces pieces, long offset, long length, long[] positions, long version) {
    var piece = new Entry();
    long at = offset;
    for (long position : positions) {
      long n = Math.min(RecordFormat.DATA_BYTES_MAX, offset + length - at);
      pieces.add(piece.set(at, position, 0, n, version, Entry.DATA));
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

    @Override
    Commit record() {
      return record;
    }

    @Override
    long bytes() {
      return part.length;
    }

    @Override
    boolean apply(long at) {
      var positions = places.clone();
      for (int i = 0; i < positions.length; i++) positions[i] += at;
      transaction.placed(part, positions);
      return true;
    }
  }

  /// The end of a transaction, with what it wrote before.
  Operation commit(
      StreamId object,
      long version,
      long birth,
      List<WriteTransaction.Part> parts,
      Map<String, byte[]> attributes,
      List<String> removed) {
    var map = new PartMap();
    for (var part : parts) {
      if (part.hole) map.cover(part.offset, part.length, -1);
      long at = part.offset;
      for (long position : part.positions) {
        long length = Math.min(RecordFormat.DATA_BYTES_MAX, part.offset + part.length - at);
        map.cover(at, length, position);
        at += length;
      }
    }
    var change = new ChangeWrite(object, version, birth);
    map.addTo(change.extents, version);
    for (var attribute : attributes.entrySet()) change.set(attribute.getKey(), attribute.getValue());
    for (var name : removed) change.remove(name);
    return change;
  }

  /// A transaction of one write: its data and its end in one record.
  Operation write(StreamId object, long version, long offset, ByteBuffer data) {
    requireVersion(version);
    requireRange(offset, data.remaining());
    var change = new ChangeWrite(object, version, ChangeWrite.NOW);
    change.bytes = data.remaining();
    var places = addData(change.record, object, offset, data);
    for (int i = 0; i < places.length; i++) places[i] |= ObjectNote.IN_RECORD;
    addPieces(change.extents, offset, data.remaining(), places, version);
    return change;
  }

  /// The versions that a peer brings.
  ///
  /// @param extents in the log already
  /// @param attributes item by slot; null for a removed one
  Operation bring(
      StreamId object, long birth, VersionState versions, Pieces extents, Updates.Attributes found) {
    var change = new ChangeWrite(object, versions, birth, extents);
    found.forEach(change::put);
    return change;
  }

  /// A change of an object in one record.
  private final class ChangeWrite extends Operation {
    /// Instead of a birth: the object's own when this is written.
    static final long NOW = -1;

    final StreamId object;
    final VersionState versions;
    final long birth;
    final Commit record = new Commit();
    final Pieces extents;
    final Pieces attributes = new Pieces();
    long bytes;
    private ObjectNote.@Nullable Change note;
    private int place;

    ChangeWrite(StreamId object, long version, long birth) {
      this(
          object,
          VersionState.of(List.of(new VersionRange(version, version))),
          birth,
          new Pieces());
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
      var piece = new Entry();
      if (item == null) {
        attributes.add(piece.set(slot, -1, 0, 1, version, Entry.HOLE));
        return;
      }
      long at =
          record.note(ObjectNote.ATTRIBUTE, object, Spaces.ATTRIBUTES, slot, item, 0, item.length);
      long position = at | ObjectNote.IN_RECORD;
      attributes.add(piece.set(slot, position, 0, item.length, version, Entry.DATA));
    }

    @Override
    boolean admit() throws IOException {
      var head = changes.head(object);
      if (birth != NOW && birth != head.birth) {
        throw new IllegalStateException(
            "object %s was deleted after this transaction began; begin another".formatted(object));
      }
      long place = 0;
      for (var range : versions.ranges()) {
        if (!changes.has(head, range)) return true;
      }
      return false;
    }

    @Override
    Commit record() {
      long now = birth;
      try {
        if (birth == NOW) now = changes.head(object).birth;
      } catch (IOException e) {
        throw unreadable(e);
      }
      note =
          new ObjectNote.Change(ObjectNote.COMMIT, now, 0, versions, extents, attributes);
      place = note.addTo(record, object, new Encoder(64));
      return record;
    }

    @Override
    long bytes() {
      return bytes;
    }

    @Override
    boolean apply(long at) throws IOException {
      var written = note;
      if (written == null) throw new IllegalStateException("broken invariant: it was recorded");
      return changes.apply(object, written.at(at), at + place, at);
    }
  }
}
