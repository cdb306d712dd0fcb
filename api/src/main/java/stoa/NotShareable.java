package stoa;

/// A class, key or value cannot be shared. The message names the member and the remedy.
public final class NotShareable extends StoaException {
  private static final long serialVersionUID = 1L;

  public NotShareable(String message) {
    super(message);
  }

  public NotShareable(String message, Throwable cause) {
    super(message, cause);
  }
}
