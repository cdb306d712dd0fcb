package stoa.transport;

/// A stream has ended, or must end, with a status that is not the good one.
public final class StatusException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final transient Status status;

  StatusException(Status status) {
    super(status.toString());
    this.status = status;
  }

  /// Returns how the stream ended.
  public Status status() {
    return status;
  }
}
