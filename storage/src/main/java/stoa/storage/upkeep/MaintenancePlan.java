package stoa.storage.upkeep;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import stoa.base.StreamId;
import stoa.storage.index.Index;
import stoa.storage.index.IndexEntry;
import stoa.storage.index.IndexView;
import stoa.storage.index.IndexWalk;
import stoa.storage.index.Spaces;
import stoa.storage.index.Trims;
import stoa.storage.object.ObjectLookup;
import stoa.storage.segment.EntryOrder;
import stoa.storage.segment.RecordFormat;
import stoa.storage.segment.Segment;
import stoa.storage.segment.SegmentLog;

/// The worthwhile maintenance of a device: objects to reorder, segments to reclaim. One walk over
/// the index makes it. One owner uses it.
final class MaintenancePlan {
  /*
   * A segment is worth reclaiming when less than half of it is live, and all such segments together
   * have an eighth of a segment's worth of dead bytes; the segment that takes appends, when it has
   * as many by itself. So a device with nothing to do holds at most twice its live bytes, and an
   * eighth of a segment. When the disk is full, a segment is worth it when a tenth of it is dead,
   * if the disk has room for the rest. The count of live bytes comes from the index, with a
   * generous share for headers and notes, and from the bytes that reclaiming carried along: so the
   * plan does not choose bytes that reclaiming has just written, and maintenance ends.
   *
   * An object is worth reordering when reading it forward needs more than SEEKS_SPARE seeks beyond
   * two for each MiB; after reordering there is at most one for each MiB.
   */
  private static final int LIVE_PERCENT_MAX = 50;
  private static final int FULL_LIVE_PERCENT_MAX = 90;
  private static final int DEAD_SHARE = 8;
  private static final int FULL_DEAD_SHARE = 64;

  // The number of segments without any record that are worth it.
  private static final int EMPTY_TOGETHER = 4;

  private static final int ENTRY_BYTES = 2 * RecordFormat.ITEM_HEADER + RecordFormat.RECORD_HEADER;
  private static final int SEEKS_SPARE = 8;

  // The greatest distance of two items that count as read in one go.
  private static final long GAP_MAX = 64 << 10;

  // The most objects of one plan.
  private static final int OBJECTS_MAX = 10_000;

  /// Objects to put in order.
  final Deque<StreamId> objects = new ArrayDeque<>();

  /// Numbers of segments to reclaim.
  final Deque<Integer> segments = new ArrayDeque<>();

  // The segments with live bytes.
  private final Set<Integer> living = new HashSet<>();
  private final List<Segment> all;
  private final long[] live;

  // Of the object at the present place of the walk.
  private StreamId id = new StreamId(0, 0);
  // Negative until it is looked up.
  private long birth = -1;
  // False for a snapshot's delta.
  private boolean exists;
  private long bytes;
  private long seeks;
  private long logEnd;

  private final long end;

  private MaintenancePlan(List<Segment> all, long end) {
    this.all = all;
    this.end = end;
    this.live = new long[all.size()];
  }

  /// Returns a plan for the present state of a device.
  ///
  /// @param before the plan leaves segments alone that end after this log position
  /// @param damaged numbers of segments to leave alone
  /// @param carried by number of segment, the needed bytes that no entry of the index stands for
  static MaintenancePlan of(
      SegmentLog log, Index index, long before, Map<Integer, Long> carried, Set<Integer> damaged)
      throws IOException {
    var plan = counted(log, index, carried);
    plan.chooseSegments(
        before, damaged, LIVE_PERCENT_MAX, log.segmentBytes() / DEAD_SHARE, Long.MAX_VALUE);
    return plan;
  }

  /// Returns a plan like [#of] when the disk is full: segments only, and more of them.
  ///
  /// @param room the most live bytes of a segment
  static MaintenancePlan whenFull(
      SegmentLog log,
      Index index,
      long before,
      Map<Integer, Long> carried,
      Set<Integer> damaged,
      long room)
      throws IOException {
    var plan = counted(log, index, carried);
    plan.objects.clear();
    plan.chooseSegments(
        before, damaged, FULL_LIVE_PERCENT_MAX, log.segmentBytes() / FULL_DEAD_SHARE, room);
    return plan;
  }

  private static MaintenancePlan counted(SegmentLog log, Index index, Map<Integer, Long> carried)
      throws IOException {
    try (var view = index.view(log.durable())) {
      long end = log.end();
      var plan = new MaintenancePlan(log.segments(), end); // after the view: all that it points to
      plan.carry(carried);
      var walk = view.walk();
      var trims = index.trims().walk(view);
      while (walk.next()) {
        if (!skipTrimmed(walk, trims)) plan.count(walk, view);
      }
      plan.endObject();
      return plan;
    }
  }

  private static boolean skipTrimmed(IndexWalk walk, Trims.Walk trims) throws IOException {
    if (walk.space() >= EntryOrder.VERSIONED) return false;
    long bound = trims.before(walk.high(), walk.low(), walk.space());
    if (walk.entry().offset >= bound) return false;
    walk.seek(walk.high(), walk.low(), walk.space(), bound);
    return true;
  }

  boolean isEmpty() {
    return objects.isEmpty() && segments.isEmpty();
  }

  private void count(IndexWalk walk, IndexView view) throws IOException {
    var entry = walk.entry();
    if (walk.high() != id.high() || walk.low() != id.low()) {
      endObject();
      id = new StreamId(walk.high(), walk.low());
      birth = -1;
    }
    if (walk.space() == Spaces.TRIMS && entry.isHole()) return;
    if (walk.space() >= EntryOrder.VERSIONED && walk.space() != Spaces.TRIMS) {
      if (birth < 0) birth = ObjectLookup.birth(view, id, new IndexEntry());
      if (entry.isHole() || entry.position < birth) return;
    }
    int at = segmentOf(entry.position);
    if (at < 0) {
      // A deletion no longer matters when there are no older bytes.
      if (walk.space() == Spaces.BIRTH && entry.offset == 0) return;
      throw new IllegalStateException(
          "broken invariant: what lives is not retired, but space %d of %s at %d points to %d"
              .formatted(walk.space(), id, entry.offset, entry.position));
    }
    boolean data = walk.space() == Spaces.BYTES;
    exists |= walk.space() == Spaces.VERSIONS;
    if (walk.space() < EntryOrder.VERSIONED || walk.space() == Spaces.TRIMS) {
      live[at] += RecordFormat.ITEM_HEADER + entry.length;
    } else {
      boolean first = !data || entry.skip == 0;
      boolean hasData = data || walk.space() == Spaces.ATTRIBUTES;
      if (first) live[at] += ENTRY_BYTES;
      if (hasData) live[at] += RecordFormat.stored((int) entry.length);
    }
    if (!data) return;
    bytes += entry.length;
    long start = entry.position + entry.skip;
    if (start < logEnd || start - logEnd > GAP_MAX) seeks++;
    logEnd = start + entry.length; // checksums in between are within the gap
  }

  private void endObject() {
    boolean scattered = seeks > SEEKS_SPARE + 2 * (bytes >> 20);
    if (exists && scattered && objects.size() < OBJECTS_MAX) objects.add(id);
    exists = false;
    bytes = 0;
    seeks = 0;
    logEnd = 0;
  }

  private int segmentOf(long position) {
    int low = 0;
    int high = all.size() - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (all.get(middle).base() <= position) low = middle;
      else high = middle - 1;
    }
    var segment = all.get(low);
    return position >= segment.base() && position < segment.end() ? low : -1;
  }

  private void carry(Map<Integer, Long> carried) {
    for (int i = 0; i < all.size(); i++) live[i] += carried.getOrDefault(all.get(i).number(), 0L);
  }

  private long size(int at) {
    var segment = all.get(at);
    return Math.min(segment.end(), end) - segment.base() - segment.headerBytes();
  }

  private long dead(int at) {
    return size(at) - live[at];
  }

  private void chooseSegments(
      long before, Set<Integer> damaged, int livePercentMax, long deadLeast, long liveMax) {
    var chosen = new ArrayList<Integer>();
    long deadBytes = 0;
    for (int i = 0; i < all.size(); i++) {
      var segment = all.get(i);
      boolean last = i == all.size() - 1;
      long segmentEnd = Math.min(segment.end(), end);
      long size = size(i);
      boolean empty = size == 0 && !last; // the device gave others up when it had just begun
      boolean worth = empty || (live[i] * 100 < size * livePercentMax && live[i] <= liveMax);
      boolean free = segmentEnd <= before && !damaged.contains(segment.number());
      if (!worth || !free || (last && dead(i) < deadLeast)) continue;
      chosen.add(i);
      deadBytes += empty ? deadLeast / EMPTY_TOGETHER : dead(i);
    }
    if (deadBytes < deadLeast) return;
    var dead = Comparator.comparingLong(this::dead).reversed();
    chosen.sort(Comparator.<Integer, Boolean>comparing(i -> live[i] > 0).thenComparing(dead));
    for (int i : chosen) {
      segments.add(all.get(i).number());
      if (live[i] > 0) living.add(all.get(i).number());
    }
  }

  /// Returns whether the next segment has live bytes.
  boolean nextLives() {
    return living.contains(segments.getFirst());
  }
}
