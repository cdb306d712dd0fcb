package stoa;

/// The call ran, or waited, for longer than [Limits#callTimeMax()], or than it was given by
/// [Stoa#within]. What it had changed was taken back.
public final class DeadlineExceeded extends StoaException {
  private static final long serialVersionUID = 1L;

  public DeadlineExceeded(String message) {
    super(message);
  }

  public DeadlineExceeded(String message, Throwable cause) {
    super(message, cause);
  }
}
