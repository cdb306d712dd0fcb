package stoa.trials;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;
import stoa.sim.scenario.SimulatedRun;

class ClusterScenarioTest {
  @Test
  void historiesOverServersThatAreKilledAndStoppedAreExplained() {
    var passed =
        switch (SimulatedRun.of(new ClusterScenario(2, 30), 1)) {
          case SimulatedRun.Passed well -> well;
          case SimulatedRun.Failed failed ->
              throw new AssertionError(failed.line(), failed.cause());
        };
    var places = passed.places();
    long faults =
        places.entrySet().stream()
            .filter(place -> place.getKey().matches("(the leader|a follower) .*"))
            .mapToLong(Map.Entry::getValue)
            .sum();
    assertEquals(2, faults, passed::toString);
    assertTrue(places.getOrDefault("a transaction committed", 0L) > 0, passed::toString);
  }
}
