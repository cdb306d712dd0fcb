package stoa;

/// Stored data is damaged. The message names the file and the position. The call changed nothing.
public final class Corrupt extends StoaException {
  private static final long serialVersionUID = 1L;

  public Corrupt(String message) {
    super(message);
  }

  public Corrupt(String message, Throwable cause) {
    super(message, cause);
  }
}
