package stoa.bench.migration;

import stoa.Accessor;
import stoa.Placement;
import stoa.Shared;

/// The trivial object of the self-service paper (section 8.2): a number at its clients.
///
/// A state machine with one call at a time.
@Shared(name = "stoa.bench.migration.Tally", placement = Placement.CLIENT)
public class Tally {
  private long value;

  protected Tally() {}

  /// Adds one, and returns the number.
  public long increment() {
    return ++value;
  }

  /// Returns the number.
  @Accessor
  public long value() {
    return value;
  }
}
