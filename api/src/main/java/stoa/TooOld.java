package stoa;

/// A caller asked for a part of the past that was released: a version below the oldest readable
/// one, or a log address.
///
/// The remedy is to ask for [#oldest()] or later, or to keep more ([Keep]).
public final class TooOld extends StoaException {
  private static final long serialVersionUID = 1L;

  private final long version;
  private final long oldest;

  public TooOld(String message) {
    super(message);
    version = -1;
    oldest = -1;
  }

  public TooOld(String message, Throwable cause) {
    super(message, cause);
    version = -1;
    oldest = -1;
  }

  /// Creates the failure for a released version.
  ///
  /// @param what the object or stream of the version
  public TooOld(Object what, long version, long oldest) {
    super(
        "version %d of %s was released; the oldest that can be read is %d"
            .formatted(version, what, oldest));
    this.version = version;
    this.oldest = oldest;
  }

  /// Returns the requested version, or the counter of the log address; -1 when it has no number.
  public long version() {
    return version;
  }

  /// Returns the oldest readable one; -1 when there is none.
  public long oldest() {
    return oldest;
  }
}
