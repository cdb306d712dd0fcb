package stoa.sim.world;

import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Index;
import stoa.Shared;
import stoa.Unique;

/// An object of [stoa.sim.scenario.IndexesScenario].
@Shared(name = "stoa.sim.Sheet")
public class SimulatedSheet {
  @Index private int row;
  @Index private String label = "";
  @Unique private @Nullable String owner;

  // Makes checkpoints due.
  private String ballast = "";

  protected SimulatedSheet() {}

  /// Returns by how much a version of the class shifts rows.
  private static int shift() {
    return 0;
  }

  /// Changes two indexed values; returns one of them.
  public int move(int to, String inBallast) {
    row = to + shift();
    label = "in " + row;
    ballast = inBallast;
    return to;
  }

  /// Changes one indexed value, and those of another object.
  public int pass(SimulatedSheet next, int to) {
    row = next.move(to, "") + 1;
    return row;
  }

  /// Changes a value that no other object may have, and another one.
  public int give(@Nullable String name, int to) {
    owner = name;
    row = to;
    return to;
  }

  /// Changes no indexed value; returns how much ballast there is.
  public int touch(String inBallast) {
    ballast = inBallast;
    return ballast.length();
  }

  /// Returns its row.
  @Accessor
  public int row() {
    return row;
  }

  /// Returns what follows from its row.
  @Accessor
  public String label() {
    return label;
  }

  /// Returns its owner; null when it has none.
  @Accessor
  public @Nullable String owner() {
    return owner;
  }
}
