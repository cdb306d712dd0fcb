package stoa;

/// A method threw an exception whose class cannot travel, or could not be run, or an operator
/// cancelled the call. The message says which, and holds the class, message and trace of what was
/// thrown.
public final class CallFailed extends StoaException {
  private static final long serialVersionUID = 1L;

  public CallFailed(String message) {
    super(message);
  }

  public CallFailed(String message, Throwable cause) {
    super(message, cause);
  }
}
