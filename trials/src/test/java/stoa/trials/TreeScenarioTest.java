package stoa.trials;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;
import stoa.sim.scenario.SimulatedRun;

class TreeScenarioTest {
  @Test
  void objectsMigrateWhileAServerOfThreeFails() {
    var passed =
        switch (SimulatedRun.of(new TreeScenario(1, 24), 4)) {
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
    assertEquals(1, faults, passed::toString);
    assertTrue(places.getOrDefault("a flush", 0L) > 0, passed::toString);
  }
}
