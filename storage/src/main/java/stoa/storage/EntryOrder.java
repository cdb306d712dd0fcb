package stoa.storage;

/// The order of the index: by object as an unsigned number, then by space, then by offset.
final class EntryOrder {
  /// The spaces from this one on are versioned; those below have records.
  static final int VERSIONED = 128;

  private EntryOrder() {}

  /// Compares two series.
  static int compare(long highA, long lowA, int spaceA, long highB, long lowB, int spaceB) {
    if (highA != highB) return Long.compareUnsigned(highA, highB);
    if (lowA != lowB) return Long.compareUnsigned(lowA, lowB);
    return Integer.compare(spaceA, spaceB);
  }
}
