package stoa.wire;

/// An operation on streams, with its number in requests; `docs/wire.md` has the table.
public enum StreamOperation {
  /// Appends to streams.
  APPEND(1),
  /// Reads by log addresses.
  READ_LOG(2),
  /// Scans the log.
  SCAN_LOG(3),
  /// Finds the end of the log.
  TAIL(4),
  /// Reads by stream addresses.
  READ(5),
  /// Scans a stream.
  SCAN(6),
  /// Finds the last address of a stream.
  CHECK(7),
  /// Finds the oldest address of a stream.
  OLDEST(8),
  /// Releases the beginning of a stream.
  TRIM(9),
  /// Fills a hole in the log.
  FILL_HOLE(10),
  /// Waits for later entries of a stream.
  FOLLOW(11),
  /// Waits for later entries of the log.
  FOLLOW_LOG(12),
  /// Asks which streams the group has.
  HAS(13),
  /// Finds the stream addresses of an append to streams of several groups.
  PLACES(14),
  /// Reads the changes of objects.
  CHANGES(15),
  /// Waits for later changes of objects.
  FOLLOW_CHANGES(16),
  /// Reads the objects that are present at a log address.
  PRESENT(17),
  /// Begins or finds a subscription to changes.
  SUBSCRIBE(18),
  /// Moves a subscription forward.
  ACKNOWLEDGE(19),
  /// Lists the subscriptions.
  SUBSCRIPTIONS(20),
  /// Ends a subscription.
  UNSUBSCRIBE(21);

  private final int number;

  StreamOperation(int number) {
    this.number = number;
  }

  /// Returns the number in requests.
  public int number() {
    return number;
  }

  /// Returns the operation of a number.
  ///
  /// @throws IllegalArgumentException when this release knows none
  public static StreamOperation of(int number) {
    for (StreamOperation one : values()) if (one.number == number) return one;
    throw new IllegalArgumentException("operation " + number + " on streams is not known");
  }

  /// Returns whether the operation waits for later entries.
  public boolean isFollow() {
    return this == FOLLOW || this == FOLLOW_LOG || this == FOLLOW_CHANGES;
  }
}
