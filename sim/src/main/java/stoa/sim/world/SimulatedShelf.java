package stoa.sim.world;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import stoa.Accessor;
import stoa.Commutes;
import stoa.Key;
import stoa.Shared;

/// Several lists in one object. Transactions that work on different lists do not conflict, and
/// those that only add to lists conflict with readers alone.
@Shared(name = "stoa.sim.Shelf")
public class SimulatedShelf {
  private final Map<String, List<String>> lists = new TreeMap<>();

  protected SimulatedShelf() {}

  /// Adds an element to a list, and returns all of that list.
  public List<String> append(@Key String list, String element) {
    List<String> all = lists.computeIfAbsent(list, _ -> new ArrayList<>());
    all.add(element);
    return all;
  }

  /// Adds an element to a list.
  @Commutes
  public void add(@Key String list, String element) {
    append(list, element);
  }

  /// Adds an element to some lists.
  @Commutes
  public void addToAll(List<String> some, String element) {
    for (String list : some) append(list, element);
  }

  @Accessor
  public List<String> elements(@Key String list) {
    return lists.getOrDefault(list, List.of());
  }

  @Accessor
  public Map<String, List<String>> all() {
    return lists;
  }
}
