package stoa;

/// A method threw an exception whose class cannot travel. The message holds its class, message and
/// trace.
public final class CallFailed extends StoaException {
  private static final long serialVersionUID = 1L;

  public CallFailed(String message) {
    super(message);
  }

  public CallFailed(String message, Throwable cause) {
    super(message, cause);
  }
}
