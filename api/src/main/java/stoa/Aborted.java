package stoa;

/// A transaction was given up, because an object that it read or wrote was changed after it began.
/// Nothing was written.
public final class Aborted extends StoaException {
  private static final long serialVersionUID = 1L;

  private final transient Ref<?> object;
  private final transient LogAddress readAt;
  private final transient LogAddress changedAt;

  /// @param object the object that was changed
  /// @param readAt the log address as of which the transaction read
  /// @param changedAt the log address of the change that won
  public Aborted(Ref<?> object, LogAddress readAt, LogAddress changedAt) {
    super(
        object
            + " was changed at log address "
            + changedAt
            + ", after the transaction read at "
            + readAt
            + "; nothing was written, run it again");
    this.object = object;
    this.readAt = readAt;
    this.changedAt = changedAt;
  }

  /// The object that was changed.
  public Ref<?> object() {
    return object;
  }

  /// The log address as of which the transaction read.
  public LogAddress readAt() {
    return readAt;
  }

  /// The log address of the change that won.
  public LogAddress changedAt() {
    return changedAt;
  }
}
