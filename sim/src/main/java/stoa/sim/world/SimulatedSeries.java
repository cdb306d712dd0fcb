package stoa.sim.world;

import java.util.ArrayList;
import java.util.List;
import stoa.Accessor;
import stoa.Call;
import stoa.Shared;

/// A list of [TransactionScenario], which knows the version of each element.
@Shared(name = "stoa.sim.Series")
public class SimulatedSeries {
  private final List<String> elements = new ArrayList<>();
  private final List<Long> versions = new ArrayList<>();

  protected SimulatedSeries() {}

  /// Adds an element and returns all.
  public List<String> append(String element) {
    elements.add(element);
    versions.add(Call.version());
    return elements;
  }

  /// Adds an element to another list, and then here.
  public List<String> appendBehind(SimulatedSeries other, String element) {
    other.append(element);
    return append(element);
  }

  /// Adds an element, and then throws.
  public List<String> appendAndThrow(String element) {
    append(element);
    throw new IllegalStateException("thrown behind " + element);
  }

  @Accessor
  public List<String> elements() {
    return elements;
  }

  @Accessor
  public List<Long> versions() {
    return versions;
  }
}
