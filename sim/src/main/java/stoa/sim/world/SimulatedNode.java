package stoa.sim.world;

import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Mutator;
import stoa.Shared;

/// An object of the ring of [TransactionScenario].
@Shared(name = "stoa.sim.Node")
public class SimulatedNode {
  private @Nullable SimulatedNode next;

  protected SimulatedNode() {}

  @Accessor
  public @Nullable SimulatedNode next() {
    return next;
  }

  @Mutator
  public void link(SimulatedNode node) {
    next = node;
  }
}
