package stoa;

/// A call would wait for itself, because objects call each other in a circle. The message names the
/// path.
public final class Deadlock extends StoaException {
  private static final long serialVersionUID = 1L;

  public Deadlock(String message) {
    super(message);
  }

  public Deadlock(String message, Throwable cause) {
    super(message, cause);
  }
}
