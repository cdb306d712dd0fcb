package stoa.sim.scenario;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import stoa.StoaException;
import stoa.UnknownOutcome;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.world.ChainHandlers;
import stoa.sim.world.Chains;

/// The clients' work on lists in [GroupsScenario] whose handlers call others, also those of other
/// groups and in circles. Not thread-safe: all clients are fibers of one thread.
final class GroupChains {
  private static final int EACH = 2;

  private final GroupsWorld world;
  private final GroupLists lists;
  private final Chance chance;
  private final Trace trace;
  private final Chains chains = new Chains();

  GroupChains(GroupsWorld world, GroupLists lists, Chance chance, Trace trace) {
    this.world = world;
    this.lists = lists;
    this.chance = chance;
    this.trace = trace;
  }

  /// Puts an element whose handler calls others, which call others.
  void chain() {
    String element = lists.name("chain");
    String first = anyKey();
    var value = new StringBuilder(element);
    for (int i = chance.between(1, 3); i > 0; i--) {
      value.append(chance.of(List.of(">", "+", "?"))).append(anyKey());
    }
    chains.asked(element, first);
    try {
      var answer =
          world.ask(
              world.groupOf(first).asked(),
              owner -> lists.put(owner, ChainHandlers.space(first), first, value.toString()));
      chains.answered(element, answer);
      if (answer.toString().contains(ChainHandlers.OK)) {
        trace.reached("a handler has called another store");
      }
      if (answer.toString().contains(ChainHandlers.REFUSED)) {
        trace.reached("a handler was refused by another store");
      }
    } catch (UnknownOutcome unknown) {
      throw unknown;
    } catch (StoaException refused) {
      chains.refused(element);
      throw refused;
    }
  }

  /// Returns one of the lists.
  String anyKey() {
    return "c" + chance.of(world.groups()).number() + "." + chance.below(EACH);
  }

  /// Reads all lists, until they stop changing.
  void readAll() {
    Map<String, List<String>> before = Map.of();
    while (true) {
      var all = new TreeMap<String, List<String>>();
      for (GroupsWorld.Group group : world.groups()) {
        for (int i = 0; i < EACH; i++) {
          String key = "c" + group.number() + "." + i;
          all.put(
              key,
              world.ask(group.asked(), owner -> lists.get(owner, ChainHandlers.space(key), key)));
        }
      }
      if (all.equals(before)) break;
      before = all;
      world.fibers().pause(20_000_000);
    }
    chains.verify(before);
  }
}
