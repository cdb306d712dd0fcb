package stoa.bench.load;

import stoa.Accessor;
import stoa.LogOrder;
import stoa.Shared;

/// A number with an order of its own calls only.
///
/// A state machine; the engine calls it, one call at a time.
@Shared(name = "stoa.bench.load.StreamCounter", order = LogOrder.STREAM)
public class StreamCounter {
  private long value;

  protected StreamCounter() {}

  /// Adds to the number and answers it.
  public long add(long n) {
    return value += n;
  }

  /// The number.
  @Accessor
  public long value() {
    return value;
  }
}
