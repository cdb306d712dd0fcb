package stoa;

/// The store cannot be used: its directory is open elsewhere, is full, or has failed. Nothing was
/// logged.
public final class Unavailable extends StoaException {
  private static final long serialVersionUID = 1L;

  public Unavailable(String message) {
    super(message);
  }

  public Unavailable(String message, Throwable cause) {
    super(message, cause);
  }
}
