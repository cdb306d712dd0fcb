package stoa.raft.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import stoa.sim.scenario.SimulatedRun;

class RaftSimulationTest {
  @Test
  void losesNothingInAnyOfTheseRuns() {
    String[] seeds = System.getProperty("stoa.raft.seeds", "0-59").split("-");
    var places = new TreeMap<String, Long>();
    long from = Long.parseLong(seeds[0]);
    long to = Long.parseLong(seeds[1]);
    for (long seed = from; seed <= to; seed++) {
      var run = SimulatedRun.of(new RaftScenario(), seed);
      if (run instanceof SimulatedRun.Failed failed) {
        failed.trace().last().forEach(System.out::println);
        throw new AssertionError("seed " + seed + ": " + failed.cause(), failed.cause());
      }
      var passed = (SimulatedRun.Passed) run;
      passed.places().forEach((place, count) -> places.merge(place, count, Long::sum));
    }
    System.out.println(places);
    assertTrue(places.size() > 20);
  }

  @Test
  void aSeedGivesOneRun() {
    var first = SimulatedRun.require(new RaftScenario(), 4);
    assertEquals(first.digest(), SimulatedRun.require(new RaftScenario(), 4).digest());
  }
}
