package stoa.raft.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import stoa.sim.scenario.SimulatedRun;

class RaftSimulationTest {
  /// Rare places of the core, all of which some run of the gate must reach.
  private static final Set<String> RARE =
      Set.of(
          "answer held back",
          "answer of an earlier term",
          "asked again",
          "log begins later and is here",
          "log jumps",
          "message from before the log",
          "message limited",
          "no more questions for votes",
          "no vote after a start",
          "no vote before it has joined",
          "removed member is told",
          "replica is mended",
          "second change of members",
          "snapshot",
          "told later");

  private static SimulatedRun.Passed run(long seed) {
    return switch (SimulatedRun.of(new RaftScenario(), seed)) {
      case SimulatedRun.Passed passed -> passed;
      case SimulatedRun.Failed failed -> {
        failed.trace().last().forEach(System.out::println);
        throw new AssertionError(
            "-Dstoa.raft.seeds=%1$d-%1$d: %2$s".formatted(seed, failed.cause()), failed.cause());
      }
    };
  }

  /// More seeds: `JAVA_TOOL_OPTIONS=-Dstoa.raft.seeds=0-9999 ./stoa test raft RaftSimulationTest`.
  @Test
  void losesNothingInAnyRunAndReachesRarePlaces() {
    String chosen = System.getProperty("stoa.raft.seeds");
    String[] seeds = (chosen == null ? "0-39" : chosen).split("-", -1);
    var missing = new TreeSet<>(RARE);
    for (long seed = Long.parseLong(seeds[0]); seed <= Long.parseLong(seeds[1]); seed++) {
      missing.removeAll(run(seed).places().keySet());
    }
    if (chosen == null) assertEquals(Set.of(), missing);
  }

  @Test
  void aSeedGivesOneRun() {
    assertEquals(run(4).digest(), run(4).digest());
  }
}
