package stoa;

/// The object is quarantined: its method failed in a way that leaves its state in doubt.
public final class Diverged extends StoaException {
  private static final long serialVersionUID = 1L;

  public Diverged(String message) {
    super(message);
  }

  public Diverged(String message, Throwable cause) {
    super(message, cause);
  }
}
