package stoa;

/// The object behind this proxy was deleted. Ask [Stoa#get] or [Stoa#create] for a new one.
public final class Gone extends StoaException {
  private static final long serialVersionUID = 1L;

  public Gone(String message) {
    super(message);
  }

  public Gone(String message, Throwable cause) {
    super(message, cause);
  }
}
