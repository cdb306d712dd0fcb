package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/// Replicas that take writes in any order. More seeds: `./stoa test --campaign --scenario any-order
/// --seeds 0-9999`.
class AnyOrderTest {
  private static final List<String> PLACES =
      List.of(
          "a device fails",
          "a message is lost",
          "a primary takes over",
          "an earlier primary acknowledges",
          "an earlier primary is refused",
          "bytes are read",
          "messages are reordered",
          "replicas are repaired",
          "versions are missing for good");

  @Test
  void whatIsAcknowledgedIsKeptAndReplicasEndTheSame() {
    var scenario = Scenarios.named("any-order");
    Set<String> reached = new TreeSet<>();
    for (int seed = 0; seed < 100; seed++) {
      if (seed > 30 && reached.containsAll(PLACES)) break;
      reached.addAll(SimulatedRun.require(scenario, seed).places().keySet());
    }
    assertTrue(reached.containsAll(PLACES), reached::toString);
    assertEquals(SimulatedRun.require(scenario, 5), SimulatedRun.require(scenario, 5));
  }
}
