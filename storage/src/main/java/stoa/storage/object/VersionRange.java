package stoa.storage.object;

/// Version numbers without a gap, both ends included.
///
/// @param first the lowest, at least 1
/// @param last the highest, below 2^63 - 1
public record VersionRange(long first, long last) {
  public VersionRange {
    if (first < 1 || last < first || last == Long.MAX_VALUE) {
      throw new IllegalArgumentException(
          "the versions %d to %d are no range; the first is at least 1, the last not below it, and below 2^63 - 1"
              .formatted(first, last));
    }
  }

  /// Returns the number of versions.
  public long count() {
    return last - first + 1;
  }

  @Override
  public String toString() {
    return first == last ? Long.toString(first) : first + "-" + last;
  }
}
