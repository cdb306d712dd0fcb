package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/// Objects that migrate in a tree keep their promises.
class MigrationTest {
  @Test
  void durableOperationsHaveOneOrderThroughLeavesDisconnectionsAndNewRoots() {
    SortedMap<String, Long> places = new TreeMap<>();
    for (var name :
        List.of(
            "migration",
            "migration-leaves",
            "migration-cuts",
            "migration-moves",
            "migration-lone",
            "migration-lends")) {
      for (long seed = 0; seed < 50; seed++) {
        SimulatedRun.require(Scenarios.named(name), seed)
            .places()
            .forEach((place, count) -> places.merge(place, count, Long::sum));
      }
    }
    for (var place :
        List.of(
            "a Depart",
            "a Promote",
            "a Replaced",
            "a Reply",
            "a Resume",
            "a Move",
            "a connection is cut",
            "a new root",
            "an object changes elsewhere",
            "an object is deleted",
            "an update is withdrawn",
            "a read is withdrawn",
            "a flush is withdrawn",
            "what was given up could run",
            "several operations are under way",
            "work begins before there is a place",
            "a node is to leave while it has operations",
            "a node is to leave while it has reads",
            "a node is to leave while it has flushes",
            "a node that moves is to leave",
            "a node leaves that has no place",
            "a node has left",
            "a node is disconnected")) {
      assertTrue(places.containsKey(place), () -> place + " is not among " + places);
    }
  }

  @Test
  void runsOfOneSeedHaveEqualTraces() {
    var scenario = Scenarios.named("migration");
    assertEquals(SimulatedRun.require(scenario, 7), SimulatedRun.require(scenario, 7));
  }
}
