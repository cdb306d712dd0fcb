package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import stoa.sim.world.MigrationWorld;

/// Objects that migrate in a tree keep their promises.
class MigrationTest {
  // The number of seeds that look for a fault.
  private static final int SEEDS = 40;

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
            "migration-returns",
            "migration-survives",
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
            "a Return",
            "a Kept",
            "the root expects no more",
            "an object changes elsewhere",
            "an object is deleted",
            "an object is made anew",
            "the store makes an object",
            "an object is forgotten",
            "an inner node moves",
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
  void anOldCopyOfAnObjectThatChangedAtTheServerStaysOld() {
    SimulatedRun.require(Scenarios.named("migration-survives"), 475);
  }

  /* Whether some seed finds a fault that is not there without it. */
  private static void assertFound(MigrationWorld.Trouble trouble, MigrationWorld.Fault fault) {
    var sound = new MigrationScenario("mutant", 30, trouble);
    var faulty = new MigrationScenario("mutant", 30, trouble, fault);
    boolean found = false;
    for (int seed = 0; seed < SEEDS; seed++) {
      SimulatedRun.require(sound, seed);
      found = found || SimulatedRun.of(faulty, seed) instanceof SimulatedRun.Failed;
    }
    assertTrue(found, "no seed found it");
  }

  @Test
  void aStoreThatKeepsNoListOfChildrenIsFound() {
    var trouble = new MigrationWorld.Trouble(6, 0, 0, 6, 10, 6);
    assertFound(trouble, MigrationWorld.Fault.NO_LIST);
  }

  @Test
  void copiesThatTheRootPassesOnBeforeTheyAreDurableAreFound() {
    var trouble = new MigrationWorld.Trouble(6, 0, 0, 30, 10, 6);
    assertFound(trouble, MigrationWorld.Fault.EARLY_COPIES);
  }

  @Test
  void runsOfOneSeedHaveEqualTraces() {
    var scenario = Scenarios.named("migration");
    assertEquals(SimulatedRun.require(scenario, 7), SimulatedRun.require(scenario, 7));
  }
}
