package stoa.storage.upkeep;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import stoa.base.Encoder;
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
import stoa.storage.segment.Commit;
import stoa.storage.segment.Item;
import stoa.storage.segment.Operation;
import stoa.storage.segment.RecordFormat;

/// Writes some live bytes of the log again, at its end, and makes the index point there. It leaves
/// out bytes that were replaced since it read them. [Reclaim] and [Reorder] create it; then the
/// appending thread owns it.
public final class MoveWrite extends Operation {
  /*
   * It is appended alone, so it sees the index with everything before it applied. Live is exactly
   * what an entry of the index points to. Only the bytes are read before, outside of the append
   * lock.
   */
  private final Index index;
  private final ObjectChanges changes;
  private final List<Move> moves = new ArrayList<>();
  private final List<Written> written = new ArrayList<>();
  private final Commit record = new Commit();
  private final Encoder scratch = new Encoder(256);
  private final IndexEntry found = new IndexEntry();
  private final IndexEntry piece = new IndexEntry();
  private long bytes;
  private long carriedBytes;

  /// A note of this record that must be applied.
  private record Written(StreamId object, ObjectNote note, int place, int length) {}

  /// The maps of an object to search.
  enum Maps {
    /// Its own.
    OWN,
    /// Its own and those of its snapshots: between reading and writing, an extent may move from the
    /// one to the other.
    ALL
  }

  /// Live bytes, or bytes that were live when they were read.
  private sealed interface Move {
    /// A record of a record space.
    record Plain(StreamId object, int space, long offset, long position, byte[] data)
        implements Move {}

    /// The bound of a record space's trims.
    record Trim(StreamId object, int space, long before, long position) implements Move {}

    /// Bytes of an object from an offset on, which had these parts, in some of its maps.
    record Bytes(StreamId object, Maps maps, long offset, ByteBuffer data, Pieces parts)
        implements Move {}

    /// An attribute, in all maps.
    record Attribute(StreamId object, long slot, long position, byte[] item) implements Move {}

    /// Extents and attributes that keep their places, or are holes, in all maps.
    record Mappings(StreamId object, Pieces extents, Pieces attributes) implements Move {}

    /// A fact that does not depend on its place.
    record Note(StreamId object, ObjectNote note) implements Move {}

    /// The parts that a snapshot sees, of its delta and of those of the newer snapshots.
    record Delta(StreamId object, long number) implements Move {}
  }

  MoveWrite(Index index, ObjectChanges changes) {
    this.index = index;
    this.changes = changes;
  }

  int count() {
    return moves.size();
  }

  private void add(Move move, long size) {
    moves.add(move);
    bytes += RecordFormat.ITEM_HEADER + size;
  }

  void record(Item item) {
    byte[] data = item.data();
    var id = new StreamId(item.high, item.low);
    add(new Move.Plain(id, item.space, item.offset, item.position, data), data.length);
  }

  /// Repeats the bound of a record space's trims.
  void trim(Item note) {
    var id = new StreamId(note.high, note.low);
    add(new Move.Trim(id, note.space, note.offset, note.position), 0);
  }

  /// @param parts offsets, and the present positions of their items
  void bytes(StreamId object, Maps maps, long offset, ByteBuffer data, Pieces parts) {
    add(new Move.Bytes(object, maps, offset, data, parts), data.remaining() + 64);
  }

  void attribute(StreamId object, long slot, long position, byte[] item) {
    add(new Move.Attribute(object, slot, position, item), item.length + 64);
  }

  /// Repeats places, as far as they are still valid.
  void mappings(StreamId object, Pieces extents, Pieces attributes) {
    add(new Move.Mappings(object, extents, attributes), 16L * extents.count() + 64);
  }

  /// @param birth of the object whose versions they are
  void versions(StreamId object, long birth, VersionState versions) {
    note(object, change(birth, 0, versions, new Pieces(), new Pieces()));
  }

  void note(StreamId object, ObjectNote note) {
    add(new Move.Note(object, note), 64);
  }

  void delta(StreamId object, long number) {
    add(new Move.Delta(object, number), 64);
  }

  private static ObjectNote.Change change(
      long birth, long target, VersionState versions, Pieces extents, Pieces attributes) {
    return new ObjectNote.Change(ObjectNote.MOVED, birth, target, versions, extents, attributes);
  }

  /// Returns how many of the written bytes no entry of the index stands for. Known once this is
  /// done.
  long carriedBytes() {
    return carriedBytes;
  }

  @Override
  public long bytes() {
    return bytes;
  }

  @Override
  public boolean alone() {
    return true;
  }

  /// Encodes the bytes that are still live.
  @Override
  public boolean admit() throws IOException {
    try (var view = index.view(Long.MAX_VALUE)) {
      for (var move : moves) {
        switch (move) {
          case Move.Plain it -> encode(view, it);
          case Move.Trim it -> encode(view, it);
          case Move.Bytes it -> encode(view, it);
          case Move.Attribute it -> encode(view, it);
          case Move.Mappings it -> encode(view, it);
          case Move.Note it -> encode(it);
          case Move.Delta it -> encode(view, it);
        }
      }
    }
    return record.count() > 0;
  }

  private void encode(IndexView view, Move.Plain it) throws IOException {
    var id = it.object;
    view.floor(id.high(), id.low(), it.space, it.offset, found);
    if (found.offset != it.offset || found.position != it.position) return;
    if (it.offset < index.trims().before(id.high(), id.low(), it.space)) return;
    record.write(id, it.space, it.offset, it.data, 0, it.data.length);
  }

  private void encode(IndexView view, Move.Trim it) throws IOException {
    var id = it.object;
    boolean trimmed = Trims.before(view, id.high(), id.low(), it.space, found) > 0;
    if (trimmed && found.position == it.position) record.trim(id, it.space, it.before);
  }

  /// Returns the maps of an object to search: 0 for its own, the numbers of its snapshots.
  private static List<Long> targets(ObjectHead head, Maps maps) {
    var targets = new ArrayList<Long>();
    targets.add(0L);
    if (maps == Maps.ALL) {
      for (var kept : head.snapshots) targets.add(kept.number());
    }
    return targets;
  }

  private void encode(IndexView view, Move.Bytes it) throws IOException {
    var head = changes.head(it.object);
    var pieces = new ArrayList<Pieces>();
    var targets = targets(head, it.maps);
    boolean any = false;
    for (long target : targets) {
      var living = living(view, head, target, it);
      any |= living.count() > 0;
      pieces.add(living);
    }
    if (!any) return;
    int place = record.data(it.object, Spaces.BYTES, it.offset, it.data);
    for (int i = 0; i < pieces.size(); i++) {
      if (pieces.get(i).count() == 0) continue;
      pieces.get(i).position(place | ObjectNote.IN_RECORD);
      putMoved(head, targets.get(i), pieces.get(i), new Pieces());
    }
  }

  /// Returns the parts of some bytes that a map still has at their old places, as extents of an
  /// item that begins where the bytes do.
  private Pieces living(IndexView view, ObjectHead head, long target, Move.Bytes it)
      throws IOException {
    var pieces = new Pieces();
    var part = new IndexEntry();
    var now = new Pieces();
    for (int i = 0; i < it.parts.count(); i++) {
      it.parts.get(i, part);
      now.clear();
      overlapping(view, head, target, part, now);
      for (int j = 0; j < now.count(); j++) {
        now.get(j, found);
        if (found.isHole() || found.position != part.position) continue;
        found.clip(Math.max(found.offset, part.offset), Math.min(found.end(), part.end()));
        addJoined(pieces, found, it.offset);
      }
    }
    return pieces;
  }

  private static void overlapping(
      IndexView view, ObjectHead head, long target, IndexEntry part, Pieces into)
      throws IOException {
    var map = head.map(target);
    if (map == null) return;
    ObjectLookup.overlapping(
        view, map, Spaces.BYTES, head.birth, part.offset, part.end(), Integer.MAX_VALUE, into);
  }

  /// Adds an extent that moves into an item that begins at an offset; joins it with the last one,
  /// when it continues that with the same version.
  private void addJoined(Pieces pieces, IndexEntry extent, long itemOffset) {
    int skip = (int) (extent.offset - itemOffset);
    if (pieces.count() > 0) {
      pieces.get(pieces.count() - 1, piece);
      if (piece.end() == extent.offset && piece.version == extent.version) {
        pieces.lengthen(extent.length);
        return;
      }
    }
    pieces.add(piece.set(extent.offset, 0, skip, extent.length, extent.version, IndexEntry.DATA));
  }

  private void encode(IndexView view, Move.Attribute it) throws IOException {
    var head = changes.head(it.object);
    long place = -1;
    for (long target : targets(head, Maps.ALL)) {
      var map = head.map(target);
      boolean there =
          map != null
              && ObjectLookup.exact(view, map, Spaces.ATTRIBUTES, head.birth, it.slot, found)
              && found.position == it.position;
      if (!there) continue;
      if (place < 0) {
        place =
            record.note(
                ObjectNote.ATTRIBUTE,
                it.object,
                Spaces.ATTRIBUTES,
                it.slot,
                it.item,
                0,
                it.item.length);
      }
      var attributes = new Pieces();
      attributes.add(found);
      attributes.position(place | ObjectNote.IN_RECORD);
      putMoved(head, target, new Pieces(), attributes);
    }
  }

  private void encode(IndexView view, Move.Mappings it) throws IOException {
    var head = changes.head(it.object);
    for (long target : targets(head, Maps.ALL)) {
      var extents = extents(view, head, target, it.extents);
      var attributes = attributes(view, head, target, it.attributes);
      if (extents.count() + attributes.count() > 0) putMoved(head, target, extents, attributes);
    }
  }

  private Pieces extents(IndexView view, ObjectHead head, long target, Pieces said)
      throws IOException {
    var still = new Pieces();
    var part = new IndexEntry();
    var now = new Pieces();
    for (int i = 0; i < said.count(); i++) {
      said.get(i, part);
      now.clear();
      overlapping(view, head, target, part, now);
      for (int j = 0; j < now.count(); j++) {
        now.get(j, found);
        if (!isStill(found, part)) continue;
        still.add(
            found.clip(Math.max(found.offset, part.offset), Math.min(found.end(), part.end())));
      }
    }
    return still;
  }

  private Pieces attributes(IndexView view, ObjectHead head, long target, Pieces said)
      throws IOException {
    var still = new Pieces();
    var map = head.map(target);
    if (map == null) return still;
    var part = new IndexEntry();
    for (int i = 0; i < said.count(); i++) {
      said.get(i, part);
      boolean there =
          ObjectLookup.exact(view, map, Spaces.ATTRIBUTES, head.birth, part.offset, found);
      if (there && isStill(found, part)) still.add(found);
    }
    return still;
  }

  private static boolean isStill(IndexEntry found, IndexEntry said) {
    if (said.isHole()) return found.isHole() && found.version == said.version;
    return !found.isHole() && found.position == said.position;
  }

  private void encode(Move.Note it) throws IOException {
    var head = changes.head(it.object);
    switch (it.note) {
      case ObjectNote.Change change -> {
        if (change.birth() < head.birth) return; // it was deleted
      }
      case ObjectNote.Snapshot snapshot -> {
        if (head.snapshot(snapshot.number()) == null) return;
      }
      case ObjectNote.Deleted deleted -> {
        // Refers to entries that may be in older segments.
      }
      case ObjectNote.Released released -> {
        // As above.
      }
      case ObjectNote.Forked forked -> {
        if (forked.birth() < head.birth) return; // it was deleted
      }
    }
    put(it.object, it.note);
  }

  /// Repeats for a snapshot also what newer snapshots have for it. When recovery comes here, it may
  /// know none of these: the log loses the note of a snapshot that is released later, and then the
  /// release has nothing to hand over.
  private void encode(IndexView view, Move.Delta it) throws IOException {
    var head = changes.head(it.object);
    var target = head.snapshot(it.number);
    if (target == null) return;
    for (var kept : head.snapshots) {
      if (kept.number() < it.number) continue;
      var extents = seen(view, kept, Spaces.BYTES, target);
      var attributes = seen(view, kept, Spaces.ATTRIBUTES, target);
      if (extents.count() + attributes.count() > 0) {
        putMoved(head, it.number, extents, attributes);
      }
    }
  }

  /// Returns the parts in the delta of a snapshot that another snapshot sees too.
  private Pieces seen(
      IndexView view, ObjectHead.ObjectSnapshot from, int space, ObjectHead.ObjectSnapshot by)
      throws IOException {
    var all = new Pieces();
    ObjectLookup.overlapping(
        view, from.delta(), space, 0, 0, Long.MAX_VALUE, Integer.MAX_VALUE, all);
    var seen = new Pieces();
    for (int i = 0; i < all.count(); i++) {
      all.get(i, piece);
      if (by.state().contains(piece.version)) seen.add(piece);
    }
    return seen;
  }

  private void putMoved(ObjectHead head, long target, Pieces extents, Pieces attributes) {
    put(head.id, change(head.birth, target, VersionState.EMPTY, extents, attributes));
  }

  private void put(StreamId object, ObjectNote note) {
    int place = note.addTo(record, object, scratch);
    written.add(new Written(object, note, place, scratch.size()));
    carriedBytes += RecordFormat.ITEM_HEADER + scratch.size();
  }

  @Override
  public Commit record() {
    return record;
  }

  @Override
  public boolean apply(long at) throws IOException {
    record.visit(index::insert);
    for (var it : written) {
      if (it.note instanceof ObjectNote.Change change) {
        change.extents().resolve(at);
        change.attributes().resolve(at);
      }
      changes.apply(it.object, it.note, at + it.place, at, it.length);
    }
    return true;
  }
}
