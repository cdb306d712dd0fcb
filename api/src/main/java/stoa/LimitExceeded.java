package stoa;

/// A call would exceed a limit. The store logged nothing. The message names the limit and its
/// value.
public final class LimitExceeded extends StoaException {
  private static final long serialVersionUID = 1L;

  public LimitExceeded(String message) {
    super(message);
  }

  public LimitExceeded(String message, Throwable cause) {
    super(message, cause);
  }
}
