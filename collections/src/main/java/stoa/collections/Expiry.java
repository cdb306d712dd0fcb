package stoa.collections;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.pcollections.TreePMap;
import stoa.spi.StateInput;
import stoa.spi.StateOutput;

/// When the entries of a map end that were put for a time. Immutable.
///
/// ```
/// state:  the next number, the time of the timer, count, then by their times: time, number, key
/// ```
final class Expiry {
  /// The end of an entry.
  ///
  /// @param micros its time, in microseconds since 1970
  /// @param number tells ends of one time apart
  private record End(long micros, long number) implements Comparable<End> {
    @Override
    public int compareTo(End other) {
      int time = Long.compare(micros, other.micros);
      return time != 0 ? time : Long.compare(number, other.number);
    }
  }

  /// The time of no timer.
  static final long NEVER = Long.MAX_VALUE;

  static final Expiry NONE = new Expiry(HashEntries.EMPTY, TreePMap.empty(), 1, NEVER);

  private final HashEntries ends;
  private final TreePMap<End, Object> keys;
  private final long nextNumber;
  private final long timerMicros;

  private Expiry(HashEntries ends, TreePMap<End, Object> keys, long nextNumber, long timerMicros) {
    this.ends = ends;
    this.keys = keys;
    this.nextNumber = nextNumber;
    this.timerMicros = timerMicros;
  }

  boolean isEmpty() {
    return keys.isEmpty() && timerMicros == NEVER;
  }

  /// Returns when the first entry ends; [#NEVER] when none does.
  long firstMicros() {
    return keys.isEmpty() ? NEVER : keys.firstKey().micros();
  }

  /// Returns the time for which the map has a timer.
  long timerMicros() {
    return timerMicros;
  }

  /// Returns the same ends with another timer.
  Expiry timer(long micros) {
    return new Expiry(ends, keys, nextNumber, micros);
  }

  /// Returns the ends with that of a key.
  Expiry with(Object key, long micros) {
    Expiry rest = without(key);
    var end = new End(micros, nextNumber);
    return new Expiry(
        rest.ends.with(key, end), rest.keys.plus(end, key), nextNumber + 1, timerMicros);
  }

  /// Returns the ends without that of a key.
  Expiry without(Object key) {
    if (keys.isEmpty()) return this;
    var end = (@Nullable End) ends.get(key);
    return end == null
        ? this
        : new Expiry(ends.without(key), keys.minus(end), nextNumber, timerMicros);
  }

  /// Returns the keys that have ended by a time, in the order of their ends.
  List<Object> ended(long nowMicros, int max) {
    var ended = new ArrayList<Object>();
    for (var entry : keys.entrySet()) {
      if (entry.getKey().micros() > nowMicros || ended.size() >= max) break;
      ended.add(entry.getValue());
    }
    return ended;
  }

  void store(StateOutput out) {
    out.number(nextNumber);
    out.number(timerMicros);
    out.number(keys.size());
    keys.forEach((end, key) -> {
      out.number(end.micros());
      out.number(end.number());
      out.value(key);
    });
  }

  static Expiry restored(StateInput in) {
    long next = in.number();
    long timer = in.number();
    int count = in.count();
    HashEntries ends = HashEntries.EMPTY;
    TreePMap<End, Object> keys = TreePMap.empty();
    for (int i = 0; i < count; i++) {
      var end = new End(in.number(), in.number());
      Object key = java.util.Objects.requireNonNull(in.value());
      ends = ends.with(key, end);
      keys = keys.plus(end, key);
    }
    return new Expiry(ends, keys, next, timer);
  }
}
