package stoa.sim.world;

import stoa.Accessor;
import stoa.Shared;

/// A register of [EmbeddedScenario], with read, write and compare-and-set.
@Shared(name = "stoa.sim.Register")
public class SimulatedRegister {
  private long value;

  protected SimulatedRegister() {}

  @Accessor
  public long value() {
    return value;
  }

  public long write(long newValue) {
    value = newValue;
    return value;
  }

  public boolean swap(long expected, long newValue) {
    if (value != expected) return false;
    value = newValue;
    return true;
  }
}
