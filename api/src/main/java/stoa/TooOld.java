package stoa;

/// A version below the oldest that can be read was asked for.
public final class TooOld extends StoaException {
  private static final long serialVersionUID = 1L;

  public TooOld(String message) {
    super(message);
  }

  public TooOld(String message, Throwable cause) {
    super(message, cause);
  }
}
