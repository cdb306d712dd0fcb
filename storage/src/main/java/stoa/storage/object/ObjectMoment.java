package stoa.storage.object;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.storage.index.IndexEntry;
import stoa.storage.index.IndexView;
import stoa.storage.index.Spaces;
import stoa.storage.segment.SegmentLog;

/// An object at one moment, or one of its snapshots. One owner uses it and closes it.
public final class ObjectMoment implements AutoCloseable {
  private final IndexView view;
  private final StreamId id;
  private final long birth;
  // Null for all versions.
  private final @Nullable VersionState state;
  private final List<Layer> layers = new ArrayList<>();
  private StreamId owner;

  /// A map of the index to look through. At each byte, the highest visible version of all layers
  /// counts.
  ///
  /// @param map the id of the map
  /// @param owner the id in the items that it points to
  /// @param birth entries with a position below are dead
  /// @param state the visible versions; null for all
  record Layer(StreamId map, StreamId owner, long birth, @Nullable VersionState state) {}

  private ObjectMoment(
      IndexView view, ObjectHead head, ObjectHead.@Nullable ObjectSnapshot snapshot) {
    this.view = view;
    this.id = head.id;
    this.owner = head.id;
    this.birth = head.birth;
    this.state = snapshot == null ? null : snapshot.state();
    add(head, snapshot);
  }

  private void add(ObjectHead head, ObjectHead.@Nullable ObjectSnapshot snapshot) {
    var seen = snapshot == null ? null : snapshot.state();
    if (snapshot != null) {
      int first = head.snapshots.indexOf(snapshot);
      for (int i = first; i < head.snapshots.size(); i++) {
        layers.add(new Layer(head.snapshots.get(i).delta(), head.id, head.birth, seen));
      }
    }
    layers.add(new Layer(head.id, head.id, head.birth, seen));
  }

  /// Adds the layers of the snapshots that this object, a fork, began as.
  private void addOrigins(SegmentLog log) throws IOException {
    var origin = ObjectLookup.origin(view, log, id, birth);
    while (origin != null) {
      var head = new ObjectHead(origin.origin());
      ObjectLookup.fill(view, log, head);
      var snapshot = head.snapshot(origin.number());
      if (snapshot == null) {
        throw new IllegalStateException("broken invariant: a snapshot with forks is kept");
      }
      add(head, snapshot);
      origin = ObjectLookup.origin(view, log, head.id, head.birth);
    }
  }

  /// Returns the object in a view. Closing this, or a failure here, closes the view.
  public static ObjectMoment now(IndexView view, SegmentLog log, StreamId id) throws IOException {
    try {
      var found = new IndexEntry();
      var head = new ObjectHead(id);
      boolean fork =
          view.floor(id.high(), id.low(), Spaces.BIRTH, ObjectLookup.ORIGIN, found)
              && found.offset == ObjectLookup.ORIGIN;
      if (fork) head.birth = ObjectLookup.birth(view, id, found);
      else head.birth = found.exists() ? found.version : 0;
      var moment = new ObjectMoment(view, head, null);
      if (fork) moment.addOrigins(log);
      return moment;
    } catch (IOException | RuntimeException e) {
      view.close();
      throw e;
    }
  }

  /// Returns the object in a view, without what a fork has of its origin.
  public static ObjectMoment own(IndexView view, StreamId id) throws IOException {
    try {
      var head = new ObjectHead(id);
      head.birth = ObjectLookup.birth(view, id, new IndexEntry());
      return new ObjectMoment(view, head, null);
    } catch (IOException | RuntimeException e) {
      view.close();
      throw e;
    }
  }

  /// Returns a snapshot of the object, or null when the view has no snapshot of this number.
  /// Closing this, or the absence of the snapshot, closes the view.
  static @Nullable ObjectMoment of(IndexView view, SegmentLog log, StreamId id, long number)
      throws IOException {
    ObjectMoment moment = null;
    boolean done = false;
    try {
      var head = new ObjectHead(id);
      ObjectLookup.fill(view, log, head);
      var snapshot = head.snapshot(number);
      if (snapshot != null) {
        moment = new ObjectMoment(view, head, snapshot);
        moment.addOrigins(log);
      }
      done = moment != null;
      return moment;
    } finally {
      if (!done) view.close();
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
    var found = new IndexEntry();
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
    return new ExtentSweep(view, layers, from, end);
  }

  /// Returns the end of the last byte of data.
  long size() throws IOException {
    if (layers.size() > 1) return sizeBySweep();
    var found = new IndexEntry();
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
  boolean attribute(long slot, IndexEntry best) throws IOException {
    best.clear();
    var found = new IndexEntry();
    for (var layer : layers) {
      if (!ObjectLookup.exact(view, layer.map, Spaces.ATTRIBUTES, layer.birth, slot, found)) {
        continue;
      }
      if (layer.state != null && !layer.state.contains(found.version)) continue;
      if (best.exists() && found.version <= best.version) continue;
      best.set(found);
      owner = layer.owner;
    }
    return best.exists();
  }

  /// Returns the id of the object that has the item of the attribute found last.
  StreamId owner() {
    return owner;
  }

  /// Returns the slots of all attributes, including removed ones, ascending.
  List<Long> slots() throws IOException {
    var slots = new TreeSet<Long>();
    for (var layer : layers) {
      var map = layer.map;
      try (var scan = view.scan(map.high(), map.low(), Spaces.ATTRIBUTES, 0, layer.birth)) {
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
