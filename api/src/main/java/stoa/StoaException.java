package stoa;

/// What Stoa itself throws, beside what a user's methods throw. There is one class for each way in
/// which a caller could react differently.
public abstract sealed class StoaException extends RuntimeException
    permits Unavailable,
        UnknownOutcome,
        DeadlineExceeded,
        Aborted,
        TooOld,
        Gone,
        AlreadyExists,
        Deadlock,
        Diverged,
        CallFailed,
        LimitExceeded,
        NotShareable,
        Corrupt,
        Closed {
  private static final long serialVersionUID = 1L;

  StoaException(String message) {
    super(message);
  }

  StoaException(String message, Throwable cause) {
    super(message, cause);
  }
}
