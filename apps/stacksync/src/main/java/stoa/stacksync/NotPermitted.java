package stoa.stacksync;

/// A user asks for what only others may do. Nothing was changed.
public final class NotPermitted extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public NotPermitted(String message) {
    super(message);
  }
}
