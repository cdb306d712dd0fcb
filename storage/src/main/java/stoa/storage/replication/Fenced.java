package stoa.storage.replication;

/// A replica has promised a later primary to refuse writes of this one. The outcome of the write is
/// unknown: another replica may have it, and a later repair brings it to all of them.
public final class Fenced extends IllegalStateException {
  private static final long serialVersionUID = 1;

  /// Creates the exception.
  public Fenced(String message) {
    super(message);
  }
}
