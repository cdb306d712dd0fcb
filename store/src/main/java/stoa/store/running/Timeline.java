package stoa.store.running;

import stoa.TooOld;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.StoredEntry;
import stoa.log.Streams;

/// Which part of the log the streams of keys still have, and where a log counter falls in them.
/// Thread-safe.
public final class Timeline {
  private final Streams streams;

  public Timeline(Streams streams) {
    this.streams = streams;
  }

  /// The oldest version of a key that can be read; 0 when all can.
  public long oldest(Key key) {
    return streams.oldest(key.stream());
  }

  /// Refuses a version that was released.
  ///
  /// @throws TooOld when it was
  public void check(Key key, long version) {
    long oldest = oldest(key);
    if (version < oldest) throw new TooOld(key, version, oldest);
  }

  /// The first address of a stream that stands behind a place in the log, or the one after its
  /// last.
  public long firstBehind(StreamId stream, long counter) {
    // Mostly it is near the end.
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
