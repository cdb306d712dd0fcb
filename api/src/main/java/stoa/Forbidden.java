package stoa;

/// The server does not allow the request: the roles of the caller's identity do not suffice. The
/// store logged nothing. The message names the identity, the missing role and the remedy.
public final class Forbidden extends StoaException {
  private static final long serialVersionUID = 1L;

  public Forbidden(String message) {
    super(message);
  }
}
