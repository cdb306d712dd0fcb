package stoa.storage.object;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.storage.index.Entry;
import stoa.storage.index.IndexView;
import stoa.storage.index.Spaces;
import stoa.storage.segment.SegmentLog;

/// An object at one moment, or one of its snapshots. One owner uses it and closes it.
public final class Moment implements AutoCloseable {
  private final IndexView view;
  private final StreamId id;
  private final long birth;
  private final @Nullable VersionState state; // null: all versions
  private final List<StreamId> maps = new ArrayList<>();

  private Moment(IndexView view, ObjectHead head, ObjectHead.@Nullable ObjectSnapshot snapshot) {
    this.view = view;
    this.id = head.id;
    this.birth = head.birth;
    this.state = snapshot == null ? null : snapshot.state();
    if (snapshot != null) {
      int first = head.snapshots.indexOf(snapshot);
      for (int i = first; i < head.snapshots.size(); i++) maps.add(head.snapshots.get(i).delta());
    }
    maps.add(id);
  }

  /// Returns the object in a view. Closing this, or a failure here, closes the view.
  public static Moment now(IndexView view, StreamId id) throws IOException {
    try {
      var head = new ObjectHead(id);
      head.birth = ObjectLookup.birth(view, id, new Entry());
      return new Moment(view, head, null);
    } catch (IOException | RuntimeException e) {
      view.close();
      throw e;
    }
  }

  /// Returns a snapshot of the object, or null when the view has no snapshot of this number.
  /// Closing this, or the absence of the snapshot, closes the view.
  static @Nullable Moment of(IndexView view, SegmentLog log, StreamId id, long number)
      throws IOException {
    Moment moment = null;
    try {
      var head = new ObjectHead(id);
      ObjectLookup.fill(view, log, head);
      var snapshot = head.snapshot(number);
      if (snapshot != null) moment = new Moment(view, head, snapshot);
      return moment;
    } finally {
      if (moment == null) view.close();
    }
  }

  long birth() {
    return birth;
  }

  boolean exists() throws IOException {
    return highest() > 0;
  }

  /// Returns the highest version, 0 when there is none.
  long highest() throws IOException {
    if (state != null) return state.highest();
    var found = new Entry();
    boolean any = ObjectLookup.range(view, id, birth, Long.MAX_VALUE, found);
    return any ? found.end() - 1 : 0;
  }

  /// Returns the numbers of the object's snapshots, ascending.
  List<Long> snapshots() throws IOException {
    var numbers = new ArrayList<Long>();
    try (var scan = view.scan(id.high(), id.low(), Spaces.SNAPSHOTS, 0)) {
      while (scan.next()) numbers.add(scan.entry().offset);
    }
    return List.copyOf(numbers);
  }

  VersionState versionState() throws IOException {
    return state != null ? state : ObjectLookup.state(view, id, birth);
  }

  /// Begins a walk over the extents between two offsets.
  public ExtentSweep extents(long from, long end) throws IOException {
    return new ExtentSweep(view, maps, birth, state, from, end);
  }

  /// Returns the end of the last byte of data.
  long size() throws IOException {
    if (state != null) return sizeBySweep();
    var found = new Entry();
    long at = Long.MAX_VALUE;
    while (at >= 0 && ObjectLookup.floor(view, id, Spaces.BYTES, birth, at, found)) {
      if (!found.isHole()) return found.end();
      at = found.offset - 1;
    }
    return 0;
  }

  private long sizeBySweep() throws IOException {
    long size = 0;
    try (var sweep = extents(0, Long.MAX_VALUE)) {
      while (sweep.next()) {
        if (!sweep.extent().isHole()) size = sweep.extent().end();
      }
    }
    return size;
  }

  /// Finds the visible entry of an attribute. Returns whether there is one; it may be a hole.
  boolean attribute(long slot, Entry best) throws IOException {
    best.clear();
    var found = new Entry();
    for (var map : maps) {
      if (!ObjectLookup.exact(view, map, Spaces.ATTRIBUTES, birth, slot, found)) continue;
      if (state != null && !state.contains(found.version)) continue;
      if (!best.exists() || found.version > best.version) best.set(found);
    }
    return best.exists();
  }

  /// Returns the slots of all attributes, including removed ones, ascending.
  List<Long> slots() throws IOException {
    var slots = new TreeSet<Long>();
    for (var map : maps) {
      try (var scan = view.scan(map.high(), map.low(), Spaces.ATTRIBUTES, 0, birth)) {
        while (scan.next()) slots.add(scan.entry().offset);
      }
    }
    return List.copyOf(slots);
  }

  @Override
  public void close() {
    view.close();
  }
}
