package stoa.bench.load;

import stoa.Accessor;
import stoa.Shared;

/// The shared object that the benchmarks call: a number with a key.
///
/// A state machine; the engine calls it, one call at a time.
@Shared(name = "stoa.bench.load.Counter", key = "key")
public class Counter {
  private final String key;
  private long value;

  public Counter(String key) {
    this.key = key;
  }

  /// Adds to the number and returns it.
  public long add(long n) {
    return value += n;
  }

  /// Adds the length of some bytes to the number; the history keeps the bytes.
  public long note(byte[] bytes) {
    return value += bytes.length;
  }

  /// Returns the number.
  @Accessor
  public long value() {
    return value;
  }

  /// Returns the object's own key.
  @Accessor
  public String key() {
    return key;
  }
}
