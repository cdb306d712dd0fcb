package stoa;

/// Stored data cannot be read. The message names the file and the position; nothing was changed.
public final class Corrupt extends StoaException {
  private static final long serialVersionUID = 1L;

  public Corrupt(String message) {
    super(message);
  }

  public Corrupt(String message, Throwable cause) {
    super(message, cause);
  }
}
