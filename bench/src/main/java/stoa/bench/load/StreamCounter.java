package stoa.bench.load;

import stoa.Accessor;
import stoa.LogOrder;
import stoa.Shared;

/// A number whose calls have an order among themselves only.
///
/// A state machine; the engine calls it, one call at a time.
@Shared(name = "stoa.bench.load.StreamCounter", order = LogOrder.STREAM)
public class StreamCounter {
  private long value;

  protected StreamCounter() {}

  /// Adds to the number and returns it.
  public long add(long n) {
    return value += n;
  }

  /// Returns the number.
  @Accessor
  public long value() {
    return value;
  }
}
