package stoa.sim.world;

import java.util.concurrent.TimeUnit;
import stoa.Accessor;
import stoa.Expires;
import stoa.Index;
import stoa.Shared;

/// An object of [stoa.sim.scenario.ExpiryScenario], which ends after its last change.
@Shared(name = "stoa.sim.Spark")
@Expires(value = SimulatedSpark.LIFE_MILLIS, unit = TimeUnit.MILLISECONDS)
public class SimulatedSpark {
  /// How long it lives.
  public static final long LIFE_MILLIS = 80;

  @Index private int color;

  protected SimulatedSpark() {}

  /// Returns the number of a version of the class.
  private static int build() {
    return 0;
  }

  /// Returns the number of the version that executes calls.
  @Accessor
  public int version() {
    return build();
  }

  /// Changes it.
  public void glow(int inColor) {
    color = inColor;
  }

  /// Changes it, and another one.
  public void pass(SimulatedSpark other) {
    other.glow(color);
    color++;
  }

  /// Returns its color.
  @Accessor
  public int color() {
    return color;
  }
}
