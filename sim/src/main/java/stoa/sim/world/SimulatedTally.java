package stoa.sim.world;

import java.util.ArrayList;
import java.util.List;
import stoa.Accessor;
import stoa.Call;
import stoa.CallFailed;
import stoa.Gone;
import stoa.Shared;

/// A sum of a store whose code changes: each version of this class multiplies by a factor of its
/// own.
@Shared(name = "stoa.sim.Tally")
public class SimulatedTally {
  /// The result of an addition.
  public record Added(long version, long sum) {}

  /// One addition.
  ///
  /// @param ballast makes the state large
  public record Line(String id, long amount, int factor, String ballast) {}

  private long sum;
  private final List<Line> lines = new ArrayList<>();

  protected SimulatedTally() {}

  static int factor() {
    return 1;
  }

  /// Adds, and keeps a line about it.
  public Added add(String id, long amount, String ballast) {
    sum += amount * factor();
    lines.add(new Line(id, amount, factor(), ballast));
    return new Added(Call.version(), sum);
  }

  /// Adds here and to another one, which has the same code; only here when the call of the other
  /// one is taken back, or the other one is gone. Otherwise a call would be told that has changed
  /// nothing.
  public Added addBoth(String id, long amount, String ballast, SimulatedTally other) {
    try {
      var _ = other.add(id, amount, ballast);
    } catch (CallFailed | Gone _) {
      // an operator has taken back the other call, or the one that began the other object
    }
    return add(id, amount, ballast);
  }

  @Accessor
  public long sum() {
    return sum;
  }

  @Accessor
  public List<Line> lines() {
    return List.copyOf(lines);
  }
}
