package stoa.objects;

/// How many timers a store has, and what they have done, since this process has it.
///
/// @param count how many there are, with the ends of objects and keys
/// @param overdue how many of them are due
/// @param lagMicros for how long the first of these is due, in microseconds
/// @param fired how many calls timers have made
/// @param failed how many of them threw, or could not be made
/// @param ended how many objects and values of keys have ended by themselves
public record TimerCounts(
    long count, long overdue, long lagMicros, long fired, long failed, long ended) {
  /// Returns whether there is anything to tell.
  public boolean isUsed() {
    return count != 0 || fired != 0 || ended != 0;
  }
}
