package stoa.storage.object;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import stoa.base.StreamId;
import stoa.storage.index.Index;
import stoa.storage.index.IndexEntry;
import stoa.storage.index.IndexView;
import stoa.storage.index.Spaces;
import stoa.storage.segment.SegmentLog;

/// Applies the notes of versioned objects to the index, in the order of the log: when they are
/// appended, and again when recovery rebuilds the index. The same notes always make the same
/// objects.
///
/// One owner uses it: the holder of the append lock, or the thread that opens the device.
public final class ObjectChanges {
  /*
   * This is the read/modify/write of the mapping at the close of a transaction (VOSD paper, section
   * III).
   *
   * Invariants, for every object and every snapshot's delta:
   * (1) Extents of a map do not overlap.
   * (2) A byte maps to the highest version ever applied there, in any order.
   * (3) The extents that a live snapshot sees are in the object's map, or in the delta of a
   *     snapshot that is at least as new. A delta may have more than that when recovery rebuilt the
   *     index from a log with gaps; so a reader takes, over all of them, the highest version that
   *     its snapshot's state has.
   * (4) A note may refer to an item in a segment that has been retired since. Its live parts were
   *     moved, and a later note has their new places; the index leaves the reference out.
   */
  private static final int HEADS_MAX = 4096;
  private static final int BATCH = 4096;

  // In place of the version that hides a part: no object has it.
  private static final long NOBODY = 0;

  private final Index index;
  private final SegmentLog log;
  private final Map<StreamId, ObjectHead> heads =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<StreamId, ObjectHead> eldest) {
          return size() > HEADS_MAX;
        }
      };
  private final IndexEntry piece = new IndexEntry();
  private final IndexEntry found = new IndexEntry();

  public ObjectChanges(Index index, SegmentLog log) {
    this.index = index;
    this.log = log;
  }

  /// Applies a note. Returns whether it changed anything.
  ///
  /// @param at the log position of the note's item
  /// @param record the log position of its record
  /// @param length of the note in bytes
  public boolean apply(StreamId object, ObjectNote note, long at, long record, int length)
      throws IOException {
    var head = head(object);
    return switch (note) {
      case ObjectNote.Change change -> {
        if (change.birth() > head.birth) {
          // The log has the deletion of an earlier life further on.
          delete(head, new ObjectNote.Deleted(change.birth()), at, record);
          head = head(object);
        }
        yield change(head, change, at, record);
      }
      case ObjectNote.Deleted deleted -> delete(head, deleted, at, record);
      case ObjectNote.Snapshot snapshot -> snapshot(head, snapshot, at, record, length);
      case ObjectNote.Released released -> release(head, released, record);
      case ObjectNote.Forked forked -> {
        if (forked.birth() > head.birth) {
          delete(head, new ObjectNote.Deleted(forked.birth()), at, record);
          head = head(object);
        }
        yield fork(head, forked, at, record, length);
      }
    };
  }

  /// Returns the head of an object.
  public ObjectHead head(StreamId object) throws IOException {
    var known = heads.get(object);
    if (known != null) return known;
    var head = new ObjectHead(object);
    try (var view = index.view(Long.MAX_VALUE)) {
      ObjectLookup.fill(view, log, head);
    }
    heads.put(object, head);
    return head;
  }

  /// Forgets the versions that were assigned to records that were not written.
  public void forget() {
    heads.clear();
  }

  /// Returns whether an object has every version of a range.
  boolean has(ObjectHead head, VersionRange versions) throws IOException {
    if (versions.first() > head.topLast) return false;
    if (versions.first() >= head.topFirst) return versions.last() <= head.topLast;
    try (var view = index.view(Long.MAX_VALUE)) {
      return ObjectLookup.range(view, head.id, head.birth, versions.first(), found)
          && versions.last() < found.end();
    }
  }

  private boolean change(ObjectHead head, ObjectNote.Change change, long at, long record)
      throws IOException {
    if (change.birth() < head.birth) return false; // it began before the object was deleted
    boolean moved = change.kind() == ObjectNote.MOVED;
    if (!moved && hasAll(head, change.versions())) return false;
    try (var view = index.view(Long.MAX_VALUE)) {
      var tie = moved ? MapWriter.Tie.LAST : MapWriter.Tie.FIRST;
      int age = change.target() == 0 ? head.snapshots.size() : head.age(change.target());
      var map = head.delta(change.target());
      cover(change, head, writer(view, head, map, age, record, tie, Spaces.BYTES));
      if (change.attributes().count() > 0) {
        replace(change, writer(view, head, map, age, record, tie, Spaces.ATTRIBUTES));
      }
      for (var range : change.versions().ranges()) join(view, head, range, at, record);
    }
    return true;
  }

  private boolean hasAll(ObjectHead head, VersionState versions) throws IOException {
    for (var range : versions.ranges()) {
      if (!has(head, range)) return false;
    }
    return true;
  }

  private void cover(ObjectNote.Change change, ObjectHead head, MapWriter writer)
      throws IOException {
    boolean own = change.target() == 0;
    for (int i = 0; i < change.extents().count(); i++) {
      change.extents().get(i, piece);
      if (!piece.isHole() && !log.isLive(piece.position)) continue;
      boolean empty = own && piece.length > 0 && head.take(piece.offset, piece.end());
      if (empty) writer.append(piece);
      else writer.cover(piece);
    }
  }

  private void replace(ObjectNote.Change change, MapWriter writer) throws IOException {
    for (int i = 0; i < change.attributes().count(); i++) {
      change.attributes().get(i, piece);
      if (piece.isHole() || log.isLive(piece.position)) writer.attribute(piece);
    }
  }

  /// Returns a writer of a map of an object.
  ///
  /// @param age the number of snapshots older than the map: they may see the parts that it hides
  private MapWriter writer(
      IndexView view,
      ObjectHead head,
      StreamId map,
      int age,
      long stamp,
      MapWriter.Tie tie,
      int space) {
    MapWriter.Hidden hidden =
        (entry, from, end, by) -> keep(view, head, age, stamp, space, entry, from, end, by);
    long birth = map.equals(head.id) ? head.birth : 0;
    return new MapWriter(index, view, map, birth, stamp, tie, hidden);
  }

  /// Gives a part that a higher version hides to the newest snapshot that sees it, of the `age`
  /// oldest.
  private void keep(
      IndexView view,
      ObjectHead head,
      int age,
      long stamp,
      int space,
      IndexEntry entry,
      long from,
      long end,
      long by)
      throws IOException {
    for (int i = age - 1; i >= 0; i--) {
      var state = head.snapshots.get(i).state();
      if (!state.contains(entry.version) || state.contains(by)) continue;
      give(view, head, i, stamp, space, entry, from, end);
      return;
    }
  }

  private void give(
      IndexView view,
      ObjectHead head,
      int age,
      long stamp,
      int space,
      IndexEntry entry,
      long from,
      long end)
      throws IOException {
    var delta = head.snapshots.get(age).delta();
    var writer = writer(view, head, delta, age, stamp, MapWriter.Tie.FIRST, space);
    var given = new IndexEntry().set(entry);
    if (space == Spaces.BYTES) writer.cover(given.clip(from, end));
    else writer.attribute(given);
  }

  /// Adds a range to the versions of an object.
  private void join(IndexView view, ObjectHead head, VersionRange range, long at, long stamp)
      throws IOException {
    long first = range.first();
    long last = range.last();
    if (first == head.topLast + 1 && head.topLast > 0) {
      first = head.topFirst; // the usual case: the next version
    } else {
      if (ObjectLookup.range(view, head.id, head.birth, first, found) && found.end() >= first) {
        first = found.offset;
        last = Math.max(last, found.end() - 1);
      }
      for (long offset : rangesWithin(view, head, first + 1, last + 1)) {
        if (!ObjectLookup.exact(view, head.id, Spaces.VERSIONS, head.birth, offset, found)) {
          continue;
        }
        last = Math.max(last, found.end() - 1);
        index.remove(head.id.high(), head.id.low(), Spaces.VERSIONS, offset, stamp);
      }
    }
    put(
        head.id,
        Spaces.VERSIONS,
        piece.set(first, at, 0, last - first + 1, 0, IndexEntry.DATA),
        stamp);
    if (last >= head.topLast) {
      head.topFirst = first;
      head.topLast = last;
    }
  }

  private static Iterable<Long> rangesWithin(IndexView view, ObjectHead head, long from, long to)
      throws IOException {
    var found = new ArrayList<Long>();
    try (var scan = view.scan(head.id.high(), head.id.low(), Spaces.VERSIONS, from, head.birth)) {
      while (scan.next() && scan.entry().offset <= to) {
        found.add(scan.entry().offset);
      }
    }
    return found;
  }

  private boolean fork(ObjectHead head, ObjectNote.Forked forked, long at, long stamp, int length)
      throws IOException {
    if (forked.birth() < head.birth) return false; // it was deleted
    long number = forked.number();
    var origin = piece.set(ObjectLookup.ORIGIN, at, 0, length, number, IndexEntry.DATA);
    put(head.id, Spaces.BIRTH, origin, stamp);
    long slot = ObjectHead.slot(head.id);
    put(forked.origin(), Spaces.FORKS, piece.set(slot, at, 0, 1, number, IndexEntry.DATA), stamp);
    try (var view = index.view(Long.MAX_VALUE)) {
      for (var range : forked.state().ranges()) join(view, head, range, at, stamp);
    }
    return true;
  }

  /// Returns how many forks an object has, of one snapshot or of all.
  ///
  /// @param number of the snapshot; 0 for all
  int forks(StreamId object, long number) throws IOException {
    int count = 0;
    try (var view = index.view(Long.MAX_VALUE);
        var scan = view.scan(object.high(), object.low(), Spaces.FORKS, 0)) {
      while (scan.next()) {
        if (number == 0 || scan.entry().version == number) count++;
      }
    }
    return count;
  }

  /// Returns whether an object has a fork with the slot of an id.
  boolean hasFork(StreamId object, StreamId fork) throws IOException {
    try (var view = index.view(Long.MAX_VALUE)) {
      long slot = ObjectHead.slot(fork);
      return ObjectLookup.exact(view, object, Spaces.FORKS, 0, slot, found);
    }
  }

  /// Returns how many objects an object is made of by forking.
  int depth(StreamId object) throws IOException {
    int depth = 1;
    try (var view = index.view(Long.MAX_VALUE)) {
      var origin = ObjectLookup.origin(view, log, object, head(object).birth);
      for (; origin != null; depth++) {
        var id = origin.origin();
        origin = ObjectLookup.origin(view, log, id, head(id).birth);
      }
    }
    return depth;
  }

  private boolean delete(ObjectHead head, ObjectNote.Deleted deleted, long at, long stamp)
      throws IOException {
    try (var view = index.view(Long.MAX_VALUE)) {
      var origin = ObjectLookup.origin(view, log, head.id, head.birth);
      if (origin != null) {
        var id = origin.origin();
        index.remove(id.high(), id.low(), Spaces.FORKS, ObjectHead.slot(head.id), stamp);
      }
    }
    long birth = Math.max(deleted.birth() == 0 ? at : deleted.birth(), head.birth);
    put(head.id, Spaces.BIRTH, piece.set(0, at, 0, 1, birth, IndexEntry.DATA), stamp);
    heads.remove(head.id); // to be looked up again
    return true;
  }

  private boolean snapshot(
      ObjectHead head, ObjectNote.Snapshot snapshot, long at, long stamp, int length) {
    long number = snapshot.number() == 0 ? at : snapshot.number();
    put(head.id, Spaces.SNAPSHOTS, piece.set(number, at, 0, length, 0, IndexEntry.DATA), stamp);
    heads.remove(head.id);
    return true;
  }

  private boolean release(ObjectHead head, ObjectNote.Released released, long stamp)
      throws IOException {
    // The log may have lost the note that made it, but not the parts that moved to its delta.
    long number = released.number();
    int age = head.age(number);
    var delta = head.delta(number);
    try (var view = index.view(Long.MAX_VALUE)) {
      hand(view, head, age, delta, Spaces.BYTES, stamp);
      hand(view, head, age, delta, Spaces.ATTRIBUTES, stamp);
    }
    if (head.snapshot(number) == null) return false;
    index.remove(head.id.high(), head.id.low(), Spaces.SNAPSHOTS, number, stamp);
    head.snapshots.remove(age);
    return true;
  }

  /// Gives the parts in a delta to the newest of the older snapshots that sees them.
  private void hand(IndexView view, ObjectHead head, int age, StreamId delta, int space, long stamp)
      throws IOException {
    var all = new Pieces();
    var old = new IndexEntry();
    long cursor = 0;
    while (cursor < Long.MAX_VALUE) {
      all.clear();
      cursor = ObjectLookup.overlapping(view, delta, space, 0, cursor, Long.MAX_VALUE, BATCH, all);
      for (int i = 0; i < all.count(); i++) {
        all.get(i, old);
        keep(view, head, age, stamp, space, old, old.offset, old.end(), NOBODY);
        index.remove(delta.high(), delta.low(), space, old.offset, stamp);
      }
    }
  }

  private void put(StreamId map, int space, IndexEntry entry, long stamp) {
    index.insert(map.high(), map.low(), space, stamp, entry);
  }
}
