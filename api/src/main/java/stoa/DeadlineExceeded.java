package stoa;

/// The call ran, or waited, for longer than [Limits#callTimeMax()]. What it had changed was taken
/// back.
public final class DeadlineExceeded extends StoaException {
  private static final long serialVersionUID = 1L;

  public DeadlineExceeded(String message) {
    super(message);
  }

  public DeadlineExceeded(String message, Throwable cause) {
    super(message, cause);
  }
}
