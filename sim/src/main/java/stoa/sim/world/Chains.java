package stoa.sim.world;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import stoa.sim.check.Demand;

/// The results that clients of [GroupsScenario] received from calls that called others. Decides
/// whether each call has happened once, with all that belongs to it. One owner.
public final class Chains {
  private final Map<String, String> asked = new TreeMap<>();
  private final Map<String, String> answered = new HashMap<>();
  private final Set<String> refused = new HashSet<>();

  public Chains() {}

  /// Notes that a client asks to put an element to a key.
  public void asked(String element, String key) {
    asked.put(element, key);
  }

  /// Notes that the client's put was done.
  public void answered(String element, List<String> answer) {
    answered.put(element, String.join("", answer));
  }

  /// Notes that the client's put was refused.
  public void refused(String element) {
    refused.add(element);
  }

  /// Checks the final state.
  ///
  /// @param all the lines of each key, see [ChainHandlers]
  public void verify(Map<String, List<String>> all) {
    var places = new HashMap<String, String>();
    all.forEach((key, lines) -> {
      for (String line : lines) {
        String before = places.put(ChainHandlers.elementOf(line), key);
        Demand.that(before == null, line + " is at " + before + " and at " + key);
      }
    });
    all.forEach((key, lines) -> lines.forEach(line -> verify(line, places)));
    places.forEach((element, key) -> {
      int end = element.lastIndexOf('/');
      String parent = end < 0 ? null : element.substring(0, end);
      Demand.that(
          parent == null || places.containsKey(parent), element + " was called by " + parent);
      Demand.that(
          parent != null || key.equals(asked.get(element)), element + " was asked of " + key);
    });
    answered.forEach((element, line) -> {
      List<String> lines = all.getOrDefault(asked.get(element), List.of());
      Demand.that(lines.contains(line), line + " is among " + lines);
    });
    for (String element : refused) {
      Demand.that(!places.containsKey(element), element + " was refused");
    }
  }

  private static void verify(String line, Map<String, String> places) {
    String element = ChainHandlers.elementOf(line);
    String[] outcomes = line.substring(element.length() + 1).split(",", -1);
    for (int i = 0; i < outcomes.length && !outcomes[i].isEmpty(); i++) {
      String target = outcomes[i].substring(0, outcomes[i].indexOf(':'));
      String outcome = outcomes[i].substring(target.length() + 1);
      String child = element + "/" + (i + 1);
      switch (outcome) {
        case ChainHandlers.OK ->
            Demand.that(target.equals(places.get(child)), child + " is at " + target + ": " + line);
        case ChainHandlers.REFUSED ->
            Demand.that(!places.containsKey(child), child + " was refused: " + line);
        default ->
            Demand.that(
                outcome.isEmpty() || target.equals(places.get(outcome)),
                outcome + " was seen at " + target + ": " + line);
      }
    }
  }
}
