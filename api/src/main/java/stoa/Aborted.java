package stoa;

/// A transaction was given up, because an object that it read or wrote was changed after it began.
/// Nothing was written.
public final class Aborted extends StoaException {
  private static final long serialVersionUID = 1L;

  private final transient Ref<?> object;
  private final transient LogAddress readAt;
  private final transient LogAddress changedAt;
  private final long readVersion;
  private final long changedVersion;

  /// Of versions that are not known.
  ///
  /// @param object the object that was changed
  /// @param readAt the log address as of which the transaction read
  /// @param changedAt the log address of the change that won
  public Aborted(Ref<?> object, LogAddress readAt, LogAddress changedAt) {
    this(object, 0, readAt, 0, changedAt);
  }

  /// @param object the object that was changed
  /// @param readVersion its version that the transaction saw; 0 when it was not there, or not known
  /// @param readAt the log address as of which the transaction read
  /// @param changedVersion its version that won; 0 when it is not known
  /// @param changedAt the log address of the change that won
  public Aborted(
      Ref<?> object,
      long readVersion,
      LogAddress readAt,
      long changedVersion,
      LogAddress changedAt) {
    super(
        object
            + " was changed"
            + (changedVersion == 0 ? "" : " to version " + changedVersion)
            + " at log address "
            + changedAt
            + ", after the transaction read "
            + (changedVersion == 0 ? "" : "version " + readVersion + " ")
            + "at "
            + readAt
            + "; nothing was written, run it again");
    this.object = object;
    this.readVersion = readVersion;
    this.readAt = readAt;
    this.changedVersion = changedVersion;
    this.changedAt = changedAt;
  }

  /// Of a transaction that was run again until a limit was reached.
  ///
  /// @param message how often and for how long it was run, and what its user can do
  /// @param last the last abort of those over the object that was changed most often
  public Aborted(String message, Aborted last) {
    super(message, last);
    object = last.object;
    readAt = last.readAt;
    changedAt = last.changedAt;
    readVersion = last.readVersion;
    changedVersion = last.changedVersion;
  }

  /// The object that was changed.
  public Ref<?> object() {
    return object;
  }

  /// The version of the object that the transaction saw: the stream address of the last entry that
  /// was there; 0 when there was none, or it is not known.
  public long readVersion() {
    return readVersion;
  }

  /// The version of the object that won: its stream address; 0 when it is not known.
  public long changedVersion() {
    return changedVersion;
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
