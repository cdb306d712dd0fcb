package stoa;

/// [Stoa#create] found an existing object, or [Stoa#snapshot(String)] an existing name.
public final class AlreadyExists extends StoaException {
  private static final long serialVersionUID = 1L;

  public AlreadyExists(String message) {
    super(message);
  }

  public AlreadyExists(String message, Throwable cause) {
    super(message, cause);
  }
}
