package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/// Queries over several groups agree with recounts at random log addresses while leaders fail.
class GroupIndexesTest {
  private static final long SEED = 2;

  // How many seeds reach all places.
  private static final long SEEDS = 6;

  @Test
  void aQueryEqualsARecountAtRandomAddressesOverGroups() {
    var reached = new TreeSet<String>();
    for (long seed = 0; seed < SEEDS; seed++) {
      var passed = SimulatedRun.require(Scenarios.named("indexes-groups"), seed);
      reached.addAll(passed.places().keySet());
    }
    for (var place :
        List.of(
            "a query finds an object",
            "a query finds no other",
            "an object is between the steps of a call",
            "a client looks while leaders fail",
            "a leader is overtaken and does not know")) {
      assertTrue(reached.contains(place), () -> place + ": " + reached);
    }
  }

  @Test
  void aGroupLearnsTheSchemaOfAClassWhoseNameAnEarlierLeaderHasLogged() {
    var _ = SimulatedRun.require(Scenarios.named("indexes-groups"), 32);
  }

  @Test
  void findsWrongIndexes() {
    Map<String, GroupIndexesScenario.Spoiler> spoilers =
        Map.of(
            "a sheet is not in the index",
            indexes -> {
              for (int i = 0; i < 6; i++) indexes.leave(i, "row");
              indexes.work();
            },
            "a sheet has the value of another one",
            indexes -> {
              for (int i = 0; i < 6; i++) indexes.enter(i, "row", (i + 1) % 6);
              indexes.work();
            },
            "a sheet was not in the index for a while",
            indexes -> {
              for (int i = 0; i < 6; i++) indexes.leave(i, "label");
              indexes.work();
              for (int i = 0; i < 6; i++) indexes.enter(i, "label", i);
            });
    spoilers.forEach((what, spoiler) -> {
      var run = SimulatedRun.of(new GroupIndexesScenario(spoiler), SEED);
      var failed = assertInstanceOf(SimulatedRun.Failed.class, run, what);
      assertTrue(failed.line().contains("a query finds sheet"), failed::line);
    });
  }
}
