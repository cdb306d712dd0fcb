package stoa;

/// How far a listener of a [KeyValueStore] may be behind. The store ends a listener that is further
/// behind, and tells it.
///
/// @param pendingEventsMax how many events may wait for it
/// @param pendingBytesMax how many bytes these may take
public record ListenerLimits(int pendingEventsMax, int pendingBytesMax) {
  /// The default limits: 10,000 events, 4 MiB.
  public static final ListenerLimits STANDARD = new ListenerLimits(10_000, 4 << 20);

  public ListenerLimits {
    if (pendingEventsMax <= 0) {
      throw new IllegalArgumentException(
          "pendingEventsMax is " + pendingEventsMax + "; it must be positive");
    }
    if (pendingBytesMax <= 0) {
      throw new IllegalArgumentException(
          "pendingBytesMax is " + pendingBytesMax + "; it must be positive");
    }
  }
}
