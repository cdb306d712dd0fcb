package stoa;

/// An exception of Stoa itself, as opposed to those of users' methods. Each subclass stands for one
/// reaction of the caller.
public abstract sealed class StoaException extends RuntimeException
    permits Unavailable,
        UnknownOutcome,
        DeadlineExceeded,
        Aborted,
        TooOld,
        Gone,
        AlreadyExists,
        NotUnique,
        Deadlock,
        Diverged,
        CallFailed,
        LimitExceeded,
        Forbidden,
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
