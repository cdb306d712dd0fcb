package stoa.storage.segment;

/// The signal that a log position is in no live segment: its bytes were written again elsewhere, or
/// are no longer needed. A reader that took the position from the index looks it up again.
public final class Retired extends RuntimeException {
  private static final long serialVersionUID = 1L;

  Retired(long position) {
    super("no live segment has the log position " + position, null, false, false);
  }
}
