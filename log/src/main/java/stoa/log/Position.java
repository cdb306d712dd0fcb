package stoa.log;

/// A place in the order of a consensus.
///
/// @param term the leadership under which the command there was ordered
/// @param index its number, ascending by one; 0 before the first
public record Position(long term, long index) {
  /// The position before everything.
  public static final Position START = new Position(0, 0);
}
