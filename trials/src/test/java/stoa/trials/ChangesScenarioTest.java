package stoa.trials;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import stoa.sim.scenario.SimulatedRun;

class ChangesScenarioTest {
  @Test
  void someChangesAreTakenOrRefusedAtAServerAndAtThreeInTurn() {
    switch (SimulatedRun.of(new ChangesScenario(11, List.of(12)), 0)) {
      case SimulatedRun.Passed passed ->
          assertEquals(1, passed.places().get("a rollback at three servers"));
      case SimulatedRun.Failed failed -> throw new AssertionError(failed.line(), failed.cause());
    }
  }
}
