package stoa.storage.object;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// The writer's cached facts of an object that it writes, so that the usual commit, of the next
/// version of a recently written object, needs no lookup. One owner uses it: the holder of the
/// append lock.
public final class ObjectHead {
  /// A snapshot of the object.
  ///
  /// @param number its number
  /// @param state the versions that it sees
  /// @param delta the id under which the index has the parts that only snapshots see
  public record ObjectSnapshot(long number, VersionState state, StreamId delta) {}

  // As many as writes may be in progress at a time, one behind the other.
  private static final int GAPS_MAX = 64;

  public final StreamId id;
  public long birth;

  /// The highest range of versions; `topLast` is 0 when there is none.
  long topFirst;

  long topLast;

  // No extent of the object's own map ends after this offset; and it has none in the gaps: from,
  // end, from, end …, in any order.
  private long end;
  private final long[] gaps = new long[2 * GAPS_MAX];
  private int gapEnd;

  // Assigned to a record that may not be applied yet.
  private long topGiven;

  /// Oldest first.
  public final List<ObjectSnapshot> snapshots = new ArrayList<>();

  public ObjectHead(StreamId id) {
    this.id = id;
  }

  /// Notes that no extent of the object's own map ends after an offset.
  void endsAt(long offset) {
    end = offset;
    gapEnd = 0;
  }

  /// Notes that an extent takes some offsets. Returns whether the map is known to have none there.
  ///
  /// @param to beyond `from`
  boolean take(long from, long to) {
    if (from >= end) {
      addGap(end, from);
      end = to;
      return true;
    }
    for (int i = 0; i < gapEnd; i += 2) {
      long gapFrom = gaps[i];
      long gapTo = gaps[i + 1];
      if (to <= gapFrom || gapTo <= from) continue;
      removeGap(i);
      addGap(gapFrom, from);
      addGap(to, gapTo);
      if (gapFrom <= from && to <= gapTo) return true; // no other gap overlaps
      i -= 2; // another one is there now
    }
    end = Math.max(end, to);
    return false;
  }

  private void addGap(long from, long to) {
    if (from >= to) return;
    if (gapEnd == gaps.length) removeGap(0);
    gaps[gapEnd++] = from;
    gaps[gapEnd++] = to;
  }

  private void removeGap(int at) {
    gapEnd -= 2;
    gaps[at] = gaps[gapEnd];
    gaps[at + 1] = gaps[gapEnd + 1];
  }

  /// Returns the next unused version.
  long next() {
    return Math.max(topLast, topGiven) + 1;
  }

  void given(long version) {
    topGiven = Math.max(topGiven, version);
  }

  /// Returns the snapshot of a number, null when it was released.
  public @Nullable ObjectSnapshot snapshot(long number) {
    for (var kept : snapshots) {
      if (kept.number == number) return kept;
    }
    return null;
  }

  /// Returns the id of a map: of the object for 0, of a snapshot's delta for its number; null when
  /// there is no such snapshot.
  public @Nullable StreamId map(long target) {
    if (target == 0) return id;
    var kept = snapshot(target);
    return kept == null ? null : kept.delta();
  }

  /// Returns how many snapshots are older than a given one.
  int age(long number) {
    int age = 0;
    while (age < snapshots.size() && snapshots.get(age).number < number) age++;
    return age;
  }

  /// Returns the slot of a fork among those of its origin.
  static long slot(StreamId fork) {
    return (fork.high() * 0x9e3779b97f4a7c15L + fork.low()) & Long.MAX_VALUE;
  }

  /// Returns the id of the map of a change: the object's own for 0, else the delta of snapshot
  /// `number`, with the parts that the object no longer has. The snapshot may be unknown yet.
  StreamId delta(long number) {
    return number == 0 ? id : delta(id, number);
  }

  /// Returns the id of the delta of snapshot `number` of an object: the parts that the snapshot
  /// sees and the object no longer has.
  static StreamId delta(StreamId object, long number) {
    return StreamId.of("stoa/delta/%s/%d".formatted(object, number));
  }
}
