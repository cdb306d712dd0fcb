package stoa.node;

import stoa.Accessor;
import stoa.Shared;

/// What the tests call.
@Shared
public class Counter {
  private long value;

  /// A counter at 0.
  public Counter() {}

  /// Adds one.
  public long increment() {
    return ++value;
  }

  /// What was added.
  @Accessor
  public long value() {
    return value;
  }
}
