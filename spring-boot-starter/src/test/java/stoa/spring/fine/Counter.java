package stoa.spring.fine;

import stoa.Accessor;
import stoa.Shared;

/// A counter.
@Shared(name = "spring.Counter")
public class Counter {
  private long value;

  /// Adds one.
  public long increment() {
    return ++value;
  }

  /// Refuses.
  public void refuse() {
    throw new IllegalStateException("refused at " + value);
  }

  @Accessor
  public long value() {
    return value;
  }
}
