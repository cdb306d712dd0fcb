package stoa;

/// A method threw an exception whose class cannot travel, or the store could not run the method, or
/// an operator canceled the call, or an accessor threw that an [Index] or a [Query] reads. The
/// message says which, and has the class and message of the cause.
public final class CallFailed extends StoaException {
  private static final long serialVersionUID = 1L;

  public CallFailed(String message) {
    super(message);
  }

  public CallFailed(String message, Throwable cause) {
    super(message, cause);
  }
}
