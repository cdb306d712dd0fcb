package stoa;

/// The call may or may not have happened: the store failed while logging it. Reopen the store and
/// look.
public final class UnknownOutcome extends StoaException {
  private static final long serialVersionUID = 1L;

  public UnknownOutcome(String message) {
    super(message);
  }

  public UnknownOutcome(String message, Throwable cause) {
    super(message, cause);
  }
}
