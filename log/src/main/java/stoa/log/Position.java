package stoa.log;

/// A place in the order of a consensus.
///
/// @param term the leadership under which the command there was ordered
/// @param index its number, rising by one; 0 in front of the first
public record Position(long term, long index) {
  /// In front of everything.
  public static final Position START = new Position(0, 0);
}
