package stoa.stacksync;

/// A request names a user, device or workspace that does not exist. Nothing was changed.
public final class NotFound extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public NotFound(String message) {
    super(message);
  }
}
