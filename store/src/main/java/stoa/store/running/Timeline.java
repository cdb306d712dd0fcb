package stoa.store.running;

import stoa.TooOld;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.StoredEntry;
import stoa.log.Streams;

/// Tells which part of the log the streams of keys still have, and where a log counter falls in a
/// stream. Thread-safe.
public final class Timeline {
  private final Streams streams;

  public Timeline(Streams streams) {
    this.streams = streams;
  }

  /// Returns the oldest version of a key that can be read; 0 when all versions can.
  public long oldest(Key key) {
    return streams.oldest(key.stream());
  }

  /// Checks that the store has not released a version.
  ///
  /// @throws TooOld when the store has released it
  public void check(Key key, long version) {
    long oldest = oldest(key);
    if (version < oldest) throw new TooOld(key, version, oldest);
  }

  /// Returns the first address of a stream behind a place in the log, or the address after its last
  /// one when there is none.
  public long firstBehind(StreamId stream, long counter) {
    // Most searches end near the tail, so this searches from there.
    long high = streams.last(stream) + 1;
    long step = 1;
    while (high > step && isBehind(stream, high - step, counter)) {
      high -= step;
      step *= 2;
    }
    long low = Math.max(1, high - step + 1);
    while (low < high) {
      long middle = (low + high) >>> 1;
      if (isBehind(stream, middle, counter)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  private boolean isBehind(StreamId stream, long address, long counter) {
    StoredEntry entry = streams.read(stream, address);
    return entry != null && entry.log().counter() > counter;
  }
}
