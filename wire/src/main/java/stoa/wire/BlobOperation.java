package stoa.wire;

/// An operation on a blob, with its number in requests; `docs/wire.md` has the table.
public enum BlobOperation {
  /// Creates the blob.
  CREATE(1),
  /// Finds the generation.
  GENERATION(2),
  /// Deletes the blob.
  DELETE(3),
  /// Finds the version.
  VERSION(4),
  /// Finds the size.
  SIZE(5),
  /// Reads a range.
  READ(6),
  /// Reads an attribute.
  ATTRIBUTE(7),
  /// Reads all attributes.
  ATTRIBUTES(8),
  /// Reads which extents were written.
  HISTORY(9),
  /// Writes a range.
  WRITE(10),
  /// Cuts off the end.
  TRUNCATE(11),
  /// Sets an attribute.
  SET_ATTRIBUTE(12),
  /// Removes an attribute.
  REMOVE_ATTRIBUTE(13),
  /// Takes a snapshot.
  SNAPSHOT(14),
  /// Lists the kept snapshots.
  SNAPSHOTS(15),
  /// Releases a snapshot.
  RELEASE(16),
  /// Finds the last snapshot of a version.
  AT(17),
  /// Begins a write of several parts.
  BEGIN(18),
  /// Writes a range in a write of several parts.
  PART(19),
  /// Cuts off the end in a write of several parts.
  PART_TRUNCATE(20),
  /// Sets an attribute in a write of several parts.
  PART_ATTRIBUTE(21),
  /// Removes an attribute in a write of several parts.
  PART_REMOVE_ATTRIBUTE(22),
  /// Commits a write of several parts.
  COMMIT(23),
  /// Ends a write of several parts, which has no effect unless it was committed.
  CLOSE(24),
  /// Begins a write of several parts, whose version the client chooses.
  BEGIN_VERSION(25),
  /// Finds the versions.
  VERSIONS(26),
  /// Counts versions as written.
  SKIP(27);

  private final int number;

  BlobOperation(int number) {
    this.number = number;
  }

  /// Returns the number in requests.
  public int number() {
    return number;
  }

  /// Returns whether a number in a request stands for this operation.
  public boolean is(int told) {
    return number == told;
  }

  /// Returns the operation of a number.
  ///
  /// @throws IllegalArgumentException when this release knows none
  public static BlobOperation of(int number) {
    for (BlobOperation one : values()) if (one.number == number) return one;
    throw new IllegalArgumentException("operation " + number + " on blobs is not known");
  }

  /// Returns whether the operation changes nothing.
  public boolean isRead() {
    return switch (this) {
      case GENERATION,
          VERSION,
          VERSIONS,
          SIZE,
          READ,
          ATTRIBUTE,
          ATTRIBUTES,
          HISTORY,
          SNAPSHOTS,
          AT ->
          true;
      default -> false;
    };
  }

  /// Returns whether the operation has the same effect once and twice.
  public boolean isRepeatable() {
    return isRead() || this == RELEASE;
  }

  /// Returns whether a number stands for an operation that only lets go of something.
  public static boolean isRelease(int number) {
    return RELEASE.is(number) || CLOSE.is(number);
  }
}
