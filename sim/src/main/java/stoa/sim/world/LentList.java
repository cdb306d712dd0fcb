package stoa.sim.world;

import java.util.ArrayList;
import java.util.List;
import stoa.Accessor;
import stoa.Shared;

/// A list of [LendingScenario], which moves from the server to clients and back.
@Shared(name = "stoa.sim.Lent")
public class LentList {
  private final List<String> elements = new ArrayList<>();

  protected LentList() {}

  /// Adds an element and returns all.
  public List<String> append(String element) {
    elements.add(element);
    return new ArrayList<>(elements);
  }

  /// Returns all elements.
  @Accessor
  public List<String> all() {
    return new ArrayList<>(elements);
  }
}
