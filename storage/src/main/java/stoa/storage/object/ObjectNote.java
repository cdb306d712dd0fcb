package stoa.storage.object;

import org.jspecify.annotations.Nullable;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.storage.disk.UnknownFormat;
import stoa.storage.index.IndexEntry;
import stoa.storage.segment.Commit;
import stoa.storage.segment.Item;

/// The content of a note in the log about a versioned object. The tables are in the package's text.
public sealed interface ObjectNote {
  /// The kinds of the items that hold notes, and of those that notes refer to.
  int COMMIT = 2;

  int MOVED = 3;
  int DELETED = 4;
  int SNAPSHOT = 5;
  int RELEASED = 6;

  /// An attribute's name and value; no note by itself.
  int ATTRIBUTE = 7;

  /// 8 is [RecordFormat#ITEM_TRIM][stoa.storage.segment.RecordFormat#ITEM_TRIM].
  int FORKED = 9;

  /// Marks an item without a final place: its place is relative to the record of its note.
  long IN_RECORD = 1L << 62;

  /// Changes of an object's extents, attributes and versions.
  ///
  /// @param kind COMMIT: the changes of versions; MOVED: the same bytes at another place
  /// @param birth of the object when the change began
  /// @param target the number of the snapshot of these extents, 0 for the object's own
  /// @param versions that the object has from now on
  /// @param extents ascending, not overlapping
  /// @param attributes by slot
  record Change(
      int kind, long birth, long target, VersionState versions, Pieces extents, Pieces attributes)
      implements ObjectNote {}

  /// The object was deleted.
  ///
  /// @param birth the log position below which all its entries are dead; 0 for that of this note
  record Deleted(long birth) implements ObjectNote {}

  /// A snapshot was taken.
  ///
  /// @param number its number; 0 for the log position of this note
  /// @param state the versions that it sees
  record Snapshot(long number, VersionState state) implements ObjectNote {}

  /// A snapshot was released.
  ///
  /// @param number its number
  record Released(long number) implements ObjectNote {}

  /// The object began as a snapshot of another one.
  ///
  /// @param birth of the object when it began so
  /// @param origin the other object
  /// @param number of its snapshot
  /// @param state the versions that the snapshot sees
  record Forked(long birth, StreamId origin, long number, VersionState state)
      implements ObjectNote {}

  /// Returns the item kind of this note.
  default int kindOf() {
    return switch (this) {
      case Change change -> change.kind;
      case Deleted deleted -> DELETED;
      case Snapshot snapshot -> SNAPSHOT;
      case Released released -> RELEASED;
      case Forked forked -> FORKED;
    };
  }

  /// Adds this note to a record and returns its place in it.
  default int addTo(Commit commit, StreamId object, Encoder scratch) {
    scratch.clear();
    switch (this) {
      case Change change -> encode(change, scratch);
      case Deleted deleted -> scratch.varint(deleted.birth);
      case Snapshot snapshot -> {
        scratch.varint(snapshot.number);
        snapshot.state.encode(scratch);
      }
      case Released released -> scratch.varint(released.number);
      case Forked forked -> {
        scratch.varint(forked.birth).id(forked.origin).varint(forked.number);
        forked.state.encode(scratch);
      }
    }
    return commit.note(kindOf(), object, 0, 0, scratch.array(), 0, scratch.size());
  }

  private static void encode(Change change, Encoder out) {
    out.varint(change.birth).varint(change.target);
    change.versions.encode(out);
    encode(change.extents, out);
    encode(change.attributes, out);
  }

  private static void encode(Pieces pieces, Encoder out) {
    out.varint(pieces.count());
    var piece = new IndexEntry();
    long offset = 0;
    long version = 0;
    for (int i = 0; i < pieces.count(); i++) {
      pieces.get(i, piece);
      out.varint(piece.offset - offset).varint(piece.length);
      if (piece.isHole()) {
        out.varint(0);
      } else {
        boolean here = (piece.position & IN_RECORD) != 0;
        out.varint(here ? 2 * (piece.position ^ IN_RECORD) + 2 : 2 * piece.position + 1);
        out.varint(piece.skip);
      }
      out.varint(zigzag(piece.version - version));
      offset = piece.offset;
      version = piece.version;
    }
  }

  private static long zigzag(long value) {
    return (value << 1) ^ (value >> 63);
  }

  /// Returns the note in an item, or null when the kind is not that of a note.
  ///
  /// @param at the log position of the item
  /// @param record the log position of its record
  static @Nullable ObjectNote decode(int kind, Decoder in, long at, long record) {
    return switch (kind) {
      case COMMIT, MOVED ->
          new Change(
              kind,
              in.varint(),
              in.varint(),
              VersionState.decode(in),
              pieces(in, at, record),
              pieces(in, at, record));
      case DELETED -> new Deleted(in.varint());
      case SNAPSHOT -> new Snapshot(in.varint(), VersionState.decode(in));
      case RELEASED -> new Released(in.varint());
      case FORKED -> new Forked(in.varint(), in.id(), in.varint(), VersionState.decode(in));
      default -> null;
    };
  }

  /// Returns the exception for a note whose kind this program does not know.
  static UnknownFormat unknown(Item item) {
    return new UnknownFormat(
        "the log has an item of kind %d at position %d, which this program does not know; use the program that wrote it"
            .formatted(item.kind, item.position));
  }

  private static Pieces pieces(Decoder in, long at, long record) {
    var pieces = new Pieces();
    int count = in.count();
    var piece = new IndexEntry();
    long offset = 0;
    long version = 0;
    for (int i = 0; i < count; i++) {
      offset += in.varint();
      long length = in.varint();
      long place = in.varint();
      boolean hole = place == 0;
      long position = hole ? at : (place & 1) == 1 ? place >>> 1 : record + ((place - 2) >>> 1);
      int skip = hole ? 0 : (int) in.varint();
      long step = in.varint();
      version += (step >>> 1) ^ -(step & 1);
      piece.set(offset, position, skip, length, version, hole ? IndexEntry.HOLE : IndexEntry.DATA);
      pieces.add(piece);
    }
    return pieces;
  }
}
