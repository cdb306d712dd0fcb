package stoa.sim.check;

/// A condition that a run must fulfil, whatever its seed.
public final class Demand {
  private Demand() {}

  /// Demands that a condition holds.
  ///
  /// @throws AssertionError with the demand when it does not
  public static void that(boolean holds, String demand) {
    if (!holds) throw new AssertionError("the contract demands: " + demand);
  }
}
