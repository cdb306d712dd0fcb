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

  public final StreamId id;
  public long birth;

  /// The highest range of versions; `topLast` is 0 when there is none.
  long topFirst;

  long topLast;

  /// No extent of the object's own map ends after this offset.
  long end;

  private long topGiven; // assigned to a record that may not be applied yet

  /// Oldest first.
  public final List<ObjectSnapshot> snapshots = new ArrayList<>();

  public ObjectHead(StreamId id) {
    this.id = id;
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

  /// Returns how many snapshots are older than that of a number.
  int age(long number) {
    int age = 0;
    while (age < snapshots.size() && snapshots.get(age).number < number) age++;
    return age;
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
