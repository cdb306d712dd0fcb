package stoa.storage.object;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import stoa.base.Decoder;
import stoa.base.StreamId;
import stoa.storage.index.IndexEntry;
import stoa.storage.index.IndexView;
import stoa.storage.index.Spaces;
import stoa.storage.segment.SegmentLog;

/// Finds the index's entries of versioned objects. It skips entries that point below the birth of
/// their object: they belong to a deleted one.
public final class ObjectLookup {
  /// The offset of a fork's origin in the space of births: so a read of another object needs no
  /// lookup of its own to know that there is none.
  static final long ORIGIN = 1;

  private ObjectLookup() {}

  /// Fills a head with the facts of its object in a view.
  public static void fill(IndexView view, SegmentLog log, ObjectHead head) throws IOException {
    var found = new IndexEntry();
    var id = head.id;
    head.birth = birth(view, id, found);
    head.topLast = 0;
    if (range(view, id, head.birth, Long.MAX_VALUE, found)) {
      head.topFirst = found.offset;
      head.topLast = found.end() - 1;
    }
    boolean any = floor(view, id, Spaces.BYTES, head.birth, Long.MAX_VALUE, found);
    head.endsAt(any ? found.end() : 0);
    head.snapshots.clear();
    if (!view.floor(id.high(), id.low(), Spaces.SNAPSHOTS, Long.MAX_VALUE, found)) return;
    try (var scan = view.scan(id.high(), id.low(), Spaces.SNAPSHOTS, 0)) {
      while (scan.next()) head.snapshots.add(snapshot(log, id, scan.entry()));
    }
  }

  private static ObjectHead.ObjectSnapshot snapshot(SegmentLog log, StreamId id, IndexEntry entry) {
    byte[] data =
        log.read(
            ObjectNote.SNAPSHOT, entry.position, (int) entry.length, id.high(), id.low(), 0, 0);
    var note = ObjectNote.decode(ObjectNote.SNAPSHOT, new Decoder(data), entry.position, 0);
    if (!(note instanceof ObjectNote.Snapshot snapshot)) {
      throw new IllegalStateException("broken invariant: the kind was given");
    }
    return new ObjectHead.ObjectSnapshot(
        entry.offset, snapshot.state(), ObjectHead.delta(id, entry.offset));
  }

  /// Returns the note that made an object a fork; null when it is none.
  public static ObjectNote.@Nullable Forked origin(
      IndexView view, SegmentLog log, StreamId id, long birth) throws IOException {
    var found = new IndexEntry();
    if (!exact(view, id, Spaces.BIRTH, birth, ORIGIN, found)) return null;
    byte[] data =
        log.read(ObjectNote.FORKED, found.position, (int) found.length, id.high(), id.low(), 0, 0);
    var note = ObjectNote.decode(ObjectNote.FORKED, new Decoder(data), found.position, 0);
    if (note instanceof ObjectNote.Forked forked) return forked;
    throw new IllegalStateException("broken invariant: the kind was given");
  }

  /// Returns the log position at which an object's life began, 0 when it does not exist.
  public static long birth(IndexView view, StreamId id, IndexEntry found) throws IOException {
    return view.floor(id.high(), id.low(), Spaces.BIRTH, 0, found) ? found.version : 0;
  }

  /// Finds the greatest offset at or below one.
  static boolean floor(
      IndexView view, StreamId id, int space, long birth, long offset, IndexEntry found)
      throws IOException {
    return view.floor(id.high(), id.low(), space, offset, birth, found);
  }

  /// Finds the entry at exactly an offset.
  public static boolean exact(
      IndexView view, StreamId id, int space, long birth, long offset, IndexEntry found)
      throws IOException {
    return view.floor(id.high(), id.low(), space, offset, found)
        && found.offset == offset
        && found.position >= birth;
  }

  /// Finds the range of versions with the greatest first version at or below one.
  public static boolean range(
      IndexView view, StreamId id, long birth, long version, IndexEntry found) throws IOException {
    return floor(view, id, Spaces.VERSIONS, birth, version, found);
  }

  static VersionState state(IndexView view, StreamId id, long birth) throws IOException {
    var builder = new VersionState.Builder();
    try (var scan = view.scan(id.high(), id.low(), Spaces.VERSIONS, 0, birth)) {
      while (scan.next()) builder.add(scan.entry().offset, scan.entry().end() - 1);
    }
    return builder.build();
  }

  /// Adds the entries that overlap the offsets from `from` to `end` to a list, in order, at most
  /// `max` of them. Returns the offset to continue from, at least `end` when these were all.
  public static long overlapping(
      IndexView view, StreamId id, int space, long birth, long from, long end, int max, Pieces into)
      throws IOException {
    var found = new IndexEntry();
    if (floor(view, id, space, birth, from, found) && found.end() > from) into.add(found);
    if (from + 1 >= end) return end;
    try (var scan = view.scan(id.high(), id.low(), space, from + 1, birth)) {
      while (scan.next()) {
        var entry = scan.entry();
        if (entry.offset >= end) return end;
        into.add(entry);
        if (into.count() >= max) return entry.end();
      }
    }
    return end;
  }
}
