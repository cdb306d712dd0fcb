package stoa;

/// The caller cannot learn whether its call took effect: the store failed while it logged the call,
/// or a client was disconnected before its calls on client-placed objects were durable. When the
/// store is open again, look at the objects, and repeat what is missing.
public final class UnknownOutcome extends StoaException {
  private static final long serialVersionUID = 1L;

  public UnknownOutcome(String message) {
    super(message);
  }

  public UnknownOutcome(String message, Throwable cause) {
    super(message, cause);
  }
}
