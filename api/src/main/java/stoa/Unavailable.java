package stoa;

/// The store cannot be used: another process has its directory open, it is full, or it has failed.
/// The store logged nothing of the call.
public final class Unavailable extends StoaException {
  private static final long serialVersionUID = 1L;

  public Unavailable(String message) {
    super(message);
  }

  public Unavailable(String message, Throwable cause) {
    super(message, cause);
  }
}
