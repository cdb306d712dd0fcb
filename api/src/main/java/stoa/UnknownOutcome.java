package stoa;

/// Whether something has happened is not known: a call, because the store failed while logging it,
/// or what a client did to objects at clients, because it was disconnected before that was durable.
/// Look at the objects, when the store is open again, and repeat what is missing.
public final class UnknownOutcome extends StoaException {
  private static final long serialVersionUID = 1L;

  public UnknownOutcome(String message) {
    super(message);
  }

  public UnknownOutcome(String message, Throwable cause) {
    super(message, cause);
  }
}
