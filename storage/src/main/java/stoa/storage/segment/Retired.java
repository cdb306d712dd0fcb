package stoa.storage.segment;

/// The signal that a log position is in no live segment: what stood there was written again
/// elsewhere, or nobody needs it. Whoever took the position from the index looks there again.
public final class Retired extends RuntimeException {
  private static final long serialVersionUID = 1L;

  Retired(long position) {
    super("no live segment has the log position " + position, null, false, false);
  }
}
