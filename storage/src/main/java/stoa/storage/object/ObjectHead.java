package stoa.storage.object;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// What the writer keeps at hand of an object that it writes: so that the usual commit, of the next
/// version of an object written a moment ago, need not look it up. One owner uses it: the append
/// lock's holder.
public final class ObjectHead {
  /// A snapshot of the object.
  ///
  /// @param number its number
  /// @param state the versions that it sees
  /// @param delta the id under which the index has what only snapshots see
  public record Kept(long number, VersionState state, StreamId delta) {}

  public final StreamId id;
  public long birth;

  /// The highest range of versions; `topLast` is 0 when there is none.
  long topFirst;

  long topLast;

  /// No extent of the object's own map ends behind this offset.
  long end;

  private long topGiven; // to a record that may not be applied yet

  /// Oldest first.
  public final List<Kept> snapshots = new ArrayList<>();

  public ObjectHead(StreamId id) {
    this.id = id;
  }

  /// The next version that nobody has.
  long next() {
    return Math.max(topLast, topGiven) + 1;
  }

  void given(long version) {
    topGiven = Math.max(topGiven, version);
  }

  /// The snapshot of a number, null when it is not kept.
  public @Nullable Kept snapshot(long number) {
    for (var kept : snapshots) {
      if (kept.number == number) return kept;
    }
    return null;
  }

  /// The id of a map: of the object for 0, of a snapshot's delta for its number; null when there is
  /// no such snapshot.
  public @Nullable StreamId map(long target) {
    if (target == 0) return id;
    var kept = snapshot(target);
    return kept == null ? null : kept.delta();
  }

  /// How many snapshots are older than that of a number.
  int age(long number) {
    int age = 0;
    while (age < snapshots.size() && snapshots.get(age).number < number) age++;
    return age;
  }

  /// The id of the map that a change is for: the object's own for 0, else what snapshot `number`
  /// sees and the object no longer has. The snapshot may not be known yet.
  StreamId delta(long number) {
    return number == 0 ? id : delta(id, number);
  }

  /// The id of what snapshot `number` of an object sees and the object no longer has.
  static StreamId delta(StreamId object, long number) {
    return StreamId.of("stoa/delta/%s/%d".formatted(object, number));
  }
}
