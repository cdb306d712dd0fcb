package stoa.raft.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import stoa.log.Replica;
import stoa.raft.NodeConfig;
import stoa.sim.scenario.GroupsScenario;
import stoa.sim.scenario.SimulatedRun;

/// Whole clusters with real Raft: stores with one order, each on a group of real cores, logs and
/// replicas.
class RaftGroupsSimulationTest {
  /// Rare places, all of which some run of the gate must reach.
  private static final Set<String> RARE =
      Set.of(
          "a coordinator is overtaken and does not know",
          "a leader is replaced while a transaction over stores runs",
          "a leader opens its store again",
          "a store is overtaken and does not know",
          "a transaction over 3 stores is committed",
          "an unknown outcome was a commit",
          "catch-up",
          "catch-up broken off",
          "certain",
          "confirmed",
          "crash",
          "cut off",
          "cut off in one direction",
          "file of the log written again",
          "handed back",
          "handed over",
          "level",
          "log jumps",
          "new member",
          "opened again",
          "removed",
          "snapshot",
          "unknown outcome");

  // In this run a leader that is cut off confirms, after others have elected another one.
  private static final long LONG_LEASE = 17;

  private static final Seeds SEEDS = new Seeds("stoa.raft.groups.seeds");

  private static GroupsScenario scenario(Replica.LogPlace logs, SimulatedMembers.Times times) {
    return new GroupsScenario(
        "groups-raft",
        Duration.ofMinutes(5), // on a machine with much else to do
        (place, stores) -> new RaftServers(place, stores, logs, times));
  }

  private static GroupsScenario scenario(Replica.LogPlace logs) {
    return scenario(logs, SimulatedMembers.Times.STANDARD);
  }

  private static SimulatedRun.Passed run(long seed) {
    return SEEDS.run(scenario(Replica.LogPlace.FILES), seed);
  }

  /// More seeds: `JAVA_TOOL_OPTIONS=-Dstoa.raft.groups.seeds=0-999 ./stoa test raft
  /// RaftGroupsSimulationTest`.
  @Test
  void storesWithOneOrderAreOneStoreUnderAnyLeader() {
    requireRare(Replica.LogPlace.FILES, RARE);
  }

  @Test
  void storesWhoseLogsAreOnTheirDevicesAreOneStore() {
    var rare = new TreeSet<>(RARE);
    rare.remove("file of the log written again");
    requireRare(Replica.LogPlace.DEVICE, rare);
  }

  private static void requireRare(Replica.LogPlace logs, Set<String> rare) {
    var missing = new TreeSet<>(rare);
    missing.removeAll(SEEDS.reached(scenario(logs), "4-9").keySet());
    assertEquals(Set.of(), missing);
  }

  @Test
  void aLeaseThatOutlastsTheElectionTimeIsNoticed() {
    var wrong = new SimulatedMembers.Times(NodeConfig.ENDED_PART, 3, NodeConfig.DOUBLINGS_MAX);
    Seeds.requireNoticed(
        scenario(Replica.LogPlace.FILES, wrong), LONG_LEASE, "was acknowledged before");
    run(LONG_LEASE);
  }

  @Test
  void aSeedGivesOneRun() {
    assertEquals(run(9).digest(), run(9).digest());
  }
}
