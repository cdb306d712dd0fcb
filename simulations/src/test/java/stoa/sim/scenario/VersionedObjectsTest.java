package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The versioned objects of a device against a naive model. More seeds: `./stoa test --campaign
/// --scenario versioned-crashes --seeds 0-9999`.
class VersionedObjectsTest {
  /// Runs a third of the seeds, and as many more as it takes to reach all places.
  private static void assertWell(String name, int seeds, List<String> places) {
    var scenario = Scenarios.named(name);
    Set<String> reached = new TreeSet<>();
    for (int seed = 0; seed < seeds; seed++) {
      if (seed > seeds / 3 && reached.containsAll(places)) break;
      reached.addAll(SimulatedRun.require(scenario, seed).places().keySet());
    }
    assertTrue(reached.containsAll(places), reached::toString);
  }

  @Test
  void anyOrderOfVersionsGivesWhatTheModelSays() {
    assertWell(
        "versioned",
        50,
        List.of(
            "a full disk is trimmed and filled again",
            "a snapshot is released",
            "a transaction is aborted",
            "a transaction is committed",
            "a transaction is refused, for its object was deleted",
            "a version comes late",
            "a version comes twice",
            "an object is deleted",
            "an object is imported",
            "parts are pipelined",
            "maintenance does something",
            "records are trimmed",
            "records are written",
            "segments are reclaimed",
            "snapshots are kept: 5",
            "the disk is full",
            "the index is lost",
            "the power is lost",
            "transactions are open at once: 6",
            "writes are coalesced"));
  }

  @ParameterizedTest
  @ValueSource(longs = {103, 111})
  void aFullDiskThatIsTrimmedIsFilledAgain(long seed) {
    var run = SimulatedRun.require(Scenarios.named("versioned"), seed);
    assertTrue(
        run.places().containsKey("a full disk is trimmed and filled again"),
        () -> run.places().toString());
  }

  @Test
  void devicesThatExchangeUpdatesEndInTheSameState() {
    assertWell(
        "versioned-replicas",
        26,
        List.of(
            "a device is brought level by the other",
            "damaged updates are refused",
            "the devices are level"));
  }

  @Test
  void afterAnyFailureEveryTransactionIsThereWholeOrNotAtAll() {
    assertWell(
        "versioned-crashes",
        22,
        List.of(
            "a failed device is read",
            "a process is killed",
            "an unknown outcome is a success",
            "an unknown outcome is none",
            "the device fails",
            "the disk fails while the device opens",
            "the power is lost"));
    assertWell("versioned-replicas-crashes", 20, List.of("the devices are level"));
  }

  @Test
  void filesHoldWhatTheyMustWhileTheyAreReclaimed() {
    // For longer: JAVA_TOOL_OPTIONS=-Dstoa.soak.seconds=600 ./stoa test --campaign --scenario
    // storage-soak --seeds 1
    SimulatedRun.require(new StorageSoak(Duration.ofSeconds(2), 8), 1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"versioned", "versioned-replicas-crashes"})
  void runsOfOneSeedAreTheSame(String name) {
    var scenario = Scenarios.named(name);
    assertEquals(SimulatedRun.require(scenario, 5), SimulatedRun.require(scenario, 5));
  }
}
