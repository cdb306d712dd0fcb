package stoa;

/// [Stoa#create] was asked for an object that exists.
public final class AlreadyExists extends StoaException {
  private static final long serialVersionUID = 1L;

  public AlreadyExists(String message) {
    super(message);
  }

  public AlreadyExists(String message, Throwable cause) {
    super(message, cause);
  }
}
