package stoa.storage.replication;

import java.util.TreeMap;
import stoa.storage.object.VersionRange;
import stoa.storage.object.VersionState;

/// A growing set of versions, as ranges. One owner uses it.
final class Reached {
  // The last version by the first.
  private final TreeMap<Long, Long> ranges = new TreeMap<>();

  void add(long version) {
    add(version, version);
  }

  void add(VersionState state) {
    for (VersionRange range : state.ranges()) add(range.first(), range.last());
  }

  private void add(long first, long last) {
    long from = first;
    long to = last;
    for (var before = ranges.floorEntry(to + 1);
        before != null && before.getValue() >= from - 1;
        before = ranges.floorEntry(to + 1)) {
      ranges.remove(before.getKey());
      from = Math.min(from, before.getKey());
      to = Math.max(to, before.getValue());
    }
    ranges.put(from, to);
  }

  /// Returns the number of ranges.
  int count() {
    return ranges.size();
  }

  void clear() {
    ranges.clear();
  }

  /// Returns whether it has all versions of another one.
  boolean hasAll(Reached other) {
    for (var range : other.ranges.entrySet()) {
      var here = ranges.floorEntry(range.getKey());
      if (here == null || here.getValue() < range.getValue()) return false;
    }
    return true;
  }
}
