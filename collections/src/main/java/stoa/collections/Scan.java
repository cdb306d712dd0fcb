package stoa.collections;

/// What pages of a sorted map are read: the entries of a range, in its order or from its end.
record Scan(Span span, Direction direction) {
  enum Direction {
    ASCENDING,
    DESCENDING
  }

  static final Scan ALL = new Scan(Span.ALL, Direction.ASCENDING);

  /// What is left behind a key.
  Scan behind(Object key) {
    return new Scan(
        direction == Direction.ASCENDING ? span.from(key, false) : span.to(key, false), direction);
  }

  /// Whether all of it is before a key between two nodes of a tree, of which the upper one holds
  /// that key.
  boolean endsAt(Object fence) {
    if (direction == Direction.ASCENDING) return span.isTooHigh(fence, Orders.natural());
    Object low = span.low();
    return low != null && Orders.natural().compare(fence, low) <= 0;
  }
}
