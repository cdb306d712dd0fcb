package stoa.bench.timers;

import stoa.Accessor;
import stoa.Awaits;
import stoa.Call;
import stoa.Shared;

/// The object that the timers of the benchmark call.
///
/// A state machine; the engine calls it, one call at a time.
@Shared(name = "stoa.bench.timers.Rung")
public class Rung {
  private long rings;

  /// Counts a call.
  public void ring() {
    rings++;
  }

  /// Returns how many calls there were.
  @Accessor
  public long rings() {
    return rings;
  }

  /// Waits until there were so many calls.
  @Awaits
  public void await(long count) {
    Call.await(() -> rings >= count);
  }
}
