package stoa.storage.segment;

/// The order of the index: by object as an unsigned number, then by space, then by offset.
public final class EntryOrder {
  /// The spaces from this one on are versioned; those below have records.
  public static final int VERSIONED = 128;

  private EntryOrder() {}

  /// Compares two series.
  public static int compare(long highA, long lowA, int spaceA, long highB, long lowB, int spaceB) {
    if (highA != highB) return Long.compareUnsigned(highA, highB);
    if (lowA != lowB) return Long.compareUnsigned(lowA, lowB);
    return Integer.compare(spaceA, spaceB);
  }
}
