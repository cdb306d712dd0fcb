package stoa.collections;

/// The entries to read from a sorted map: a range, in its order or in reverse.
record Scan(Span span, Direction direction) {
  enum Direction {
    ASCENDING,
    DESCENDING
  }

  static final Scan ALL = new Scan(Span.ALL, Direction.ASCENDING);

  /// Returns the rest of the scan after a key.
  Scan behind(Object key) {
    return new Scan(
        direction == Direction.ASCENDING ? span.from(key, false) : span.to(key, false), direction);
  }

  /// Returns whether all of the scan is before a key between two nodes of a tree, of which the
  /// upper one has that key.
  boolean endsAt(Object fence) {
    if (direction == Direction.ASCENDING) return span.isTooHigh(fence, Orders.natural());
    Object low = span.low();
    return low != null && Orders.natural().compare(fence, low) <= 0;
  }
}
