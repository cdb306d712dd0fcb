package stoa.store.records;

import stoa.base.StreamId;

/// The log counters of the last changes of parts of keys.
///
/// It remembers a bounded number of them. Of a part that it does not remember, it returns a counter
/// that is not less than that of its last change since this instance was made. The batch writer
/// owns it.
final class KeyedChanges {
  /*
   * Parts are hashed into buckets. A full bucket forgets its oldest change, and keeps the counter
   * of the last change that it has forgotten.
   *
   * Invariant: of every recorded change, the bucket of its part has the part's tag with its counter
   * or a greater one, or has forgotten a counter that is not less.
   */
  private static final int BUCKETS = 1 << 12;
  private static final int WAYS = 4;

  // Empty before the first change: most stores have none.
  private long[] tags = {};
  private long[] counters = {};
  private long[] forgotten = {};

  /// Notes a change.
  ///
  /// @param tag of the part, as of [#tag]
  void record(long tag, long counter) {
    if (tags.length == 0) {
      tags = new long[BUCKETS * WAYS];
      counters = new long[BUCKETS * WAYS];
      forgotten = new long[BUCKETS];
    }
    int bucket = bucket(tag);
    int oldest = bucket * WAYS;
    for (int at = bucket * WAYS; at < (bucket + 1) * WAYS; at++) {
      if (tags[at] == tag) {
        counters[at] = Math.max(counters[at], counter);
        return;
      }
      if (counters[at] < counters[oldest]) oldest = at;
    }
    forgotten[bucket] = Math.max(forgotten[bucket], counters[oldest]);
    tags[oldest] = tag;
    counters[oldest] = counter;
  }

  /// Returns the counter of the last change of a part, or a greater one; 0 when there was none.
  long last(long tag) {
    if (tags.length == 0) return 0;
    int bucket = bucket(tag);
    for (int at = bucket * WAYS; at < (bucket + 1) * WAYS; at++) {
      if (tags[at] == tag) return counters[at];
    }
    return forgotten[bucket];
  }

  /// Returns the tag of a part of a stream.
  ///
  /// @param salt distinguishes the changes that count
  static long tag(StreamId stream, int part, int salt) {
    long mixed = mix(stream.low() ^ mix(stream.high() + salt)) ^ part;
    return mix(mixed) | 1;
  }

  private static int bucket(long tag) {
    return (int) (tag >>> 32) & (BUCKETS - 1);
  }

  private static long mix(long bits) {
    long one = (bits ^ (bits >>> 30)) * 0xBF58476D1CE4E5B9L;
    long two = (one ^ (one >>> 27)) * 0x94D049BB133111EBL;
    return two ^ (two >>> 31);
  }
}
