package stoa;

/// The store was closed.
public final class Closed extends StoaException {
  private static final long serialVersionUID = 1L;

  public Closed(String message) {
    super(message);
  }

  public Closed(String message, Throwable cause) {
    super(message, cause);
  }
}
