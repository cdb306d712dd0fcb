package stoa.sim;

/// What a run must fulfil, whatever its seed.
final class Demand {
  private Demand() {}

  /// Demands that something holds.
  ///
  /// @throws AssertionError with the demand when it does not
  static void that(boolean holds, String demand) {
    if (!holds) throw new AssertionError("the contract demands: " + demand);
  }
}
