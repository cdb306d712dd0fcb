package stoa;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// The versions that a blob has: ranges, and the gaps between them (VOSD paper, section II-B). Its
/// size is that of the gaps. Immutable.
///
/// @param ranges ascending, never adjacent; the constructor takes them in any order, overlapping or
///   not
public record BlobVersions(List<BlobVersions.Range> ranges) {
  /// The state of a blob without versions.
  public static final BlobVersions NONE = new BlobVersions(List.of());

  /// Version numbers without a gap, both ends included.
  ///
  /// @param first the lowest, at least 1
  /// @param last the highest, at most 2^63 - 2
  public record Range(long first, long last) {
    /// Checks the ends.
    ///
    /// @throws IllegalArgumentException when they are no range
    public Range {
      if (first < 1 || last < first || last == Long.MAX_VALUE) {
        throw new IllegalArgumentException(
            "the versions "
                + first
                + " to "
                + last
                + " are no range; the first is at least 1, the last not below it, and at most 2^63"
                + " - 2");
      }
    }

    @Override
    public String toString() {
      return first == last ? Long.toString(first) : first + "-" + last;
    }
  }

  /// Sorts the ranges and joins those that touch.
  public BlobVersions {
    var sorted = new ArrayList<>(ranges);
    sorted.sort(Comparator.comparingLong(Range::first));
    var joined = new ArrayList<Range>();
    for (Range range : sorted) {
      Range before = joined.isEmpty() ? null : joined.getLast();
      if (before == null || range.first > before.last + 1) {
        joined.add(range);
      } else {
        joined.set(joined.size() - 1, new Range(before.first, Math.max(before.last, range.last)));
      }
    }
    ranges = List.copyOf(joined);
  }

  /// Returns the state with all versions from `first` to `last`.
  public static BlobVersions of(long first, long last) {
    return new BlobVersions(List.of(new Range(first, last)));
  }

  /// Returns the highest version, 0 when there is none.
  public long highest() {
    return ranges.isEmpty() ? 0 : ranges.getLast().last;
  }

  /// Returns the missing versions below the highest.
  public BlobVersions missing() {
    return highest() == 0 ? NONE : of(1, highest()).minus(this);
  }

  /// Returns whether it has a version.
  public boolean contains(long version) {
    int low = 0;
    int high = ranges.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (ranges.get(middle).last < version) low = middle + 1;
      else high = middle;
    }
    return low < ranges.size() && ranges.get(low).first <= version;
  }

  /// Returns the versions that this has and `other` lacks.
  public BlobVersions minus(BlobVersions other) {
    var rest = new ArrayList<Range>();
    int at = 0;
    for (Range range : ranges) {
      long from = range.first;
      while (at < other.ranges.size() && other.ranges.get(at).last < from) at++;
      for (int i = at; i < other.ranges.size() && other.ranges.get(i).first <= range.last; i++) {
        Range taken = other.ranges.get(i);
        if (taken.first > from) rest.add(new Range(from, taken.first - 1));
        from = taken.last + 1;
      }
      if (from <= range.last) rest.add(new Range(from, range.last));
    }
    return new BlobVersions(rest);
  }

  /// Returns the ranges, as in `1-47, 49`.
  @Override
  public String toString() {
    if (ranges.isEmpty()) return "none";
    return String.join(", ", ranges.stream().map(Range::toString).toList());
  }
}
