package stoa.front.types;

/// A decoding takes too long for a thread that others wait for. Nothing is wrong with the bytes,
/// and nothing was done; another thread decodes them.
public final class NotBrief extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /// Costs no trace.
  public NotBrief() {
    super("the decoding is not brief", null, false, false);
  }
}
