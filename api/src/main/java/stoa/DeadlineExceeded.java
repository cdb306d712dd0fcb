package stoa;

/// The call ran, or waited, for longer than [Limits#callTimeMax()] or its limit of [Stoa#within].
/// The store took back what it had changed.
public final class DeadlineExceeded extends StoaException {
  private static final long serialVersionUID = 1L;

  public DeadlineExceeded(String message) {
    super(message);
  }

  public DeadlineExceeded(String message, Throwable cause) {
    super(message, cause);
  }
}
