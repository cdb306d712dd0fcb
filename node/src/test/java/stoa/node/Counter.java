package stoa.node;

import stoa.Accessor;
import stoa.Shared;

/// The shared class that the tests call.
@Shared
public class Counter {
  private long value;

  /// A counter at 0.
  public Counter() {}

  /// Adds one.
  public long increment() {
    return ++value;
  }

  @Accessor
  public long value() {
    return value;
  }
}
