package stoa;

/// Something of the past was asked for that was released: a version below the oldest that can be
/// read, or a log address.
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

  /// A version of something that was released.
  ///
  /// @param what whose version it is
  public TooOld(Object what, long version, long oldest) {
    super(
        "version %d of %s was released; the oldest that can be read is %d"
            .formatted(version, what, oldest));
    this.version = version;
    this.oldest = oldest;
  }

  /// The version that was asked for, or the counter of the log address; -1 when it has no number.
  public long version() {
    return version;
  }

  /// The oldest that can be read instead; -1 when there is none.
  public long oldest() {
    return oldest;
  }
}
