package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import stoa.sim.SimulatedRun;

class ClusterScenarioTest {
  @Test
  void historiesOverServersThatAreKilledAndStoppedAreExplained() {
    var passed =
        switch (SimulatedRun.of(new ClusterScenario(2, 45), 1)) {
          case SimulatedRun.Passed well -> well;
          case SimulatedRun.Failed failed ->
              throw new AssertionError(failed.line(), failed.cause());
        };
    var places = passed.places();
    long faults =
        places.getOrDefault("a server killed", 0L) + places.getOrDefault("a server stopped", 0L);
    assertTrue(faults == 2, passed::toString);
    assertTrue(places.getOrDefault("a transaction committed", 0L) > 0, passed::toString);
  }
}
