package stoa.sim.world;

import java.util.ArrayList;
import java.util.List;
import stoa.Shared;

/// A list of [EmbeddedScenario], which clients create, delete and create again.
@Shared(name = "stoa.sim.List")
public class SimulatedList {
  private final List<String> elements = new ArrayList<>();

  protected SimulatedList() {}

  /// Adds an element and returns all.
  public List<String> append(String element) {
    elements.add(element);
    return elements;
  }
}
