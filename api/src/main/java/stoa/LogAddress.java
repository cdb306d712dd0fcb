package stoa;

/// A position in the global log (vCorfu, section 2; the epoch keeps addresses unique across
/// sequencers).
///
/// Addresses are ordered by epoch, then by counter, and none is issued twice.
///
/// @param epoch the number of the epoch in which the store issued the address, from 1; it rises
///   when the store opens again
/// @param counter the position within the epoch, from 1
public record LogAddress(long epoch, long counter) implements Comparable<LogAddress> {
  @Override
  public int compareTo(LogAddress other) {
    int byEpoch = Long.compare(epoch, other.epoch);
    return byEpoch != 0 ? byEpoch : Long.compare(counter, other.counter);
  }

  @Override
  public String toString() {
    return epoch + ":" + counter;
  }
}
