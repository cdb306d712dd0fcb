package stoa;

/// A transaction wrote nothing, because another call changed an object that it had read or written.
public final class Aborted extends StoaException {
  private static final long serialVersionUID = 1L;

  private final transient Ref<?> object;
  private final transient LogAddress readAt;
  private final transient LogAddress changedAt;
  private final long readVersion;
  private final long changedVersion;

  /// Creates an abort without known versions.
  ///
  /// @param object the changed object
  /// @param readAt the log address as of which the transaction read
  /// @param changedAt the log address of the change that won
  public Aborted(Ref<?> object, LogAddress readAt, LogAddress changedAt) {
    this(object, 0, readAt, 0, changedAt);
  }

  /// Creates an abort.
  ///
  /// @param object the changed object
  /// @param readVersion the version that the transaction saw; 0 when the object was absent, or the
  ///   version is unknown
  /// @param readAt the log address as of which the transaction read
  /// @param changedVersion the version that won; 0 when it is unknown
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

  /// Creates the failure of a transaction that ran again until it reached a limit.
  ///
  /// @param message how often and for how long it ran, and the remedies
  /// @param last the last abort over the object that changed most often
  public Aborted(String message, Aborted last) {
    super(message, last);
    object = last.object;
    readAt = last.readAt;
    changedAt = last.changedAt;
    readVersion = last.readVersion;
    changedVersion = last.changedVersion;
  }

  /// Returns the changed object.
  public Ref<?> object() {
    return object;
  }

  /// Returns the version of the object that the transaction saw, which is a stream address; 0 when
  /// the object was absent, or the version is unknown.
  public long readVersion() {
    return readVersion;
  }

  /// Returns the version of the object that won, which is a stream address; 0 when it is unknown.
  public long changedVersion() {
    return changedVersion;
  }

  /// Returns the log address as of which the transaction read.
  public LogAddress readAt() {
    return readAt;
  }

  /// Returns the log address of the change that won.
  public LogAddress changedAt() {
    return changedAt;
  }
}
