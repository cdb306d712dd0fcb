package stoa.storage.upkeep;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import stoa.base.Decoder;
import stoa.base.StreamId;
import stoa.storage.index.Index;
import stoa.storage.index.IndexEntry;
import stoa.storage.index.IndexView;
import stoa.storage.index.Spaces;
import stoa.storage.index.Trims;
import stoa.storage.object.ObjectChanges;
import stoa.storage.object.ObjectHead;
import stoa.storage.object.ObjectLookup;
import stoa.storage.object.ObjectNote;
import stoa.storage.object.Pieces;
import stoa.storage.object.VersionState;
import stoa.storage.segment.Item;
import stoa.storage.segment.ItemVisitor;
import stoa.storage.segment.RecordFormat;
import stoa.storage.segment.Segment;
import stoa.storage.segment.SegmentLog;

/// Writes the live bytes of a segment again at the end of the log, so that the segment can be
/// retired (VOSD paper, section III: to harvest obsolete log entries). One owner uses it for one
/// segment.
final class Reclaim implements ItemVisitor {
  /*
   * After this, the log must have the following, so that recovery can still rebuild the index from
   * the log alone:
   *   - everything that an entry of the index points to, records and bytes and attributes, at its
   *     new place;
   *   - the references of the segment's notes to items in other segments;
   *   - holes, which have no data but hide older versions;
   *   - the numbers of the versions that the segment's notes added;
   *   - snapshots, with the references of their deltas, and of the newer snapshots' deltas as far as
   *     they see these parts: read again from here, the log no longer has the order of the snapshot
   *     and the versions after it;
   *   - the bounds of trims of record spaces, the last one of each;
   *   - deletions and releases, while an older segment may have the objects and snapshots that they
   *     ended;
   *   - the origins of forks.
   */
  private static final int MOVES_MAX = 512;
  private static final int MOVE_BYTES_MAX = 1 << 20;
  private static final int OBJECTS_MAX = 1024;

  private final Segment segment;
  private final SegmentLog log;
  private final Index index;
  private final ObjectChanges changes;
  private final Mover mover;
  private final boolean oldest;

  private final Map<StreamId, ObjectHead> heads = new LinkedHashMap<>();
  private final Map<StreamId, Gained> gained = new LinkedHashMap<>();
  private final IndexEntry found = new IndexEntry();
  private IndexView view;
  private MoveWrite moves;

  /// Takes batches of moves and returns when each is durable.
  @FunctionalInterface
  interface Mover {
    void move(MoveWrite moves);
  }

  /// Versions of an object in the segment's notes.
  private record Gained(long birth, VersionState versions) {}

  private Reclaim(
      Segment segment,
      boolean oldest,
      SegmentLog log,
      Index index,
      ObjectChanges changes,
      Mover mover) {
    this.segment = segment;
    this.log = log;
    this.index = index;
    this.changes = changes;
    this.mover = mover;
    this.oldest = oldest;
    this.view = index.view(log.end());
    this.moves = new MoveWrite(index, changes);
  }

  /// Moves all live bytes of a segment.
  ///
  /// @param oldest whether no older segment is live
  static void evacuate(
      Segment segment,
      boolean oldest,
      SegmentLog log,
      Index index,
      ObjectChanges changes,
      Mover mover) {
    var reclaim = new Reclaim(segment, oldest, log, index, changes, mover);
    try {
      log.visit(segment, 0, reclaim);
      reclaim.flushGained();
      reclaim.flush();
    } finally {
      reclaim.view.close();
    }
  }

  @Override
  public void item(Item item) {
    try {
      switch (item.kind) {
        case RecordFormat.ITEM_RECORD -> record(item);
        case RecordFormat.ITEM_TRIM -> {
          if (Trims.isLast(view, item, found)) moves.trim(item);
        }
        case RecordFormat.ITEM_DATA -> bytes(item);
        case ObjectNote.ATTRIBUTE -> attribute(item);
        default -> note(item);
      }
      if (moves.count() >= MOVES_MAX || moves.bytes() >= MOVE_BYTES_MAX) flush();
      if (gained.size() >= OBJECTS_MAX) flushGained();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void flush() {
    if (moves.count() > 0) mover.move(moves);
    moves = new MoveWrite(index, changes);
    heads.clear();
    var next = index.view(log.end());
    view.close();
    view = next;
  }

  private void flushGained() {
    gained.forEach((id, it) -> moves.versions(id, it.birth, it.versions));
    gained.clear();
  }

  private ObjectHead head(StreamId id) throws IOException {
    var known = heads.get(id);
    if (known != null) return known;
    var head = new ObjectHead(id);
    ObjectLookup.fill(view, log, head);
    heads.put(id, head);
    return head;
  }

  private void record(Item item) throws IOException {
    view.floor(item.high, item.low, item.space, item.offset, found);
    boolean there = found.offset == item.offset && found.position == item.position;
    if (there && item.offset >= index.trims().before(item.high, item.low, item.space)) {
      moves.record(item);
    }
  }

  private void bytes(Item item) throws IOException {
    var head = head(new StreamId(item.high, item.low));
    var ranges = new TreeMap<Long, Long>();
    living(item, head, 0, ranges);
    for (var kept : head.snapshots) living(item, head, kept.number(), ranges);
    long from = 0;
    long end = 0;
    for (var range : ranges.entrySet()) {
      if (range.getKey() > end) {
        move(item, head, from, end);
        from = range.getKey();
      }
      end = Math.max(end, range.getValue());
    }
    move(item, head, from, end);
  }

  /// Adds the offsets at which a map points to an item: the first to the end.
  private void living(Item item, ObjectHead head, long target, Map<Long, Long> ranges)
      throws IOException {
    var map = head.map(target);
    if (map == null) return;
    var living = new Pieces();
    long end = item.offset + item.length;
    ObjectLookup.overlapping(
        view, map, Spaces.BYTES, head.birth, item.offset, end, Integer.MAX_VALUE, living);
    for (int i = 0; i < living.count(); i++) {
      living.get(i, found);
      if (!found.isHole() && found.position == item.position) {
        ranges.merge(found.offset, found.end(), Math::max);
      }
    }
  }

  private void move(Item item, ObjectHead head, long from, long end) {
    for (long at = from; at < end; ) {
      int length = (int) Math.min(MOVE_BYTES_MAX, end - at);
      var data = ByteBuffer.allocate(length);
      log.readData(item.position, at - item.offset, data);
      var part = new Pieces();
      part.add(new IndexEntry().set(at, item.position, 0, length, 0, IndexEntry.DATA));
      moves.bytes(head.id, MoveWrite.Maps.ALL, at, data.flip(), part);
      if (moves.bytes() >= MOVE_BYTES_MAX) flush();
      at += length;
    }
  }

  private void attribute(Item item) throws IOException {
    var head = head(new StreamId(item.high, item.low));
    boolean lives = isAt(item, head, 0);
    for (var kept : head.snapshots) lives |= isAt(item, head, kept.number());
    if (lives) moves.attribute(head.id, item.offset, item.position, item.data());
  }

  private boolean isAt(Item item, ObjectHead head, long target) throws IOException {
    var map = head.map(target);
    return map != null
        && ObjectLookup.exact(view, map, Spaces.ATTRIBUTES, head.birth, item.offset, found)
        && found.position == item.position;
  }

  private void note(Item item) throws IOException {
    var id = new StreamId(item.high, item.low);
    // The beginning of its record is not known yet; everything in the record is in this segment.
    var in = new Decoder(item.data());
    var note = ObjectNote.decode(item.kind, in, item.position, segment.base());
    switch (note) {
      case null -> throw ObjectNote.unknown(item);
      case ObjectNote.Change change -> change(id, change);
      case ObjectNote.Snapshot snapshot -> {
        long number = snapshot.number() == 0 ? item.position : snapshot.number();
        if (head(id).snapshot(number) == null) return;
        moves.note(id, new ObjectNote.Snapshot(number, snapshot.state()));
        flush(); // the delta may point to moving bytes
        moves.delta(id, number);
        flush();
      }
      case ObjectNote.Deleted deleted -> {
        long birth = deleted.birth() == 0 ? item.position : deleted.birth();
        if (!oldest) moves.note(id, new ObjectNote.Deleted(birth));
      }
      case ObjectNote.Released released -> {
        if (!oldest) moves.note(id, released);
      }
      case ObjectNote.Forked forked -> {
        if (forked.birth() == head(id).birth) moves.note(id, forked);
      }
    }
  }

  private void change(StreamId id, ObjectNote.Change change) throws IOException {
    var head = head(id);
    if (change.birth() < head.birth) return;
    if (change.versions().highest() > 0) {
      gained.merge(
          id,
          new Gained(change.birth(), change.versions()),
          (a, b) -> new Gained(Math.max(a.birth, b.birth), a.versions.plus(b.versions)));
    }
    var extents = elsewhere(change.extents());
    var attributes = elsewhere(change.attributes());
    if (extents.count() + attributes.count() > 0) moves.mappings(id, extents, attributes);
  }

  /// Returns the pieces of a note that do not come with an item of this segment.
  private Pieces elsewhere(Pieces pieces) {
    var result = new Pieces();
    var piece = new IndexEntry();
    for (int i = 0; i < pieces.count(); i++) {
      pieces.get(i, piece);
      boolean here = segment.base() <= piece.position && piece.position < segment.end();
      if (piece.isHole() || (!here && log.isLive(piece.position))) result.add(piece);
    }
    return result;
  }
}
