package stoa.front.types;

/// A decoding takes too long for a thread that others wait for. The bytes are valid, and nothing
/// has happened; another thread decodes them.
public final class NotBrief extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /// Creates the exception without a stack trace.
  public NotBrief() {
    super("the decoding is not brief", null, false, false);
  }
}
