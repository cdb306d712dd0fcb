package stoa;

/// A position in the global log (vCorfu, section 2; the epoch keeps addresses unique across
/// sequencers).
///
/// Addresses are ordered by epoch, then by counter, and none is issued twice.
///
/// @param epoch the number that the store raises so that no address is issued twice, from 1
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
