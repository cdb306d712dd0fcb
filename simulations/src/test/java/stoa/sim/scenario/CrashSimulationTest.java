package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import stoa.log.Layout;

/// Whole stores on a disk that fails. More seeds: `./stoa test --campaign --seeds 0-9999`.
class CrashSimulationTest {
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

  /// Whether at least half of ten seeds find the fault of a disk that does not sync.
  private static void assertFoundOut(Scenario scenario) {
    int found = 0;
    for (int seed = 0; seed < 10 && found < 5; seed++) {
      if (SimulatedRun.of(scenario, seed) instanceof SimulatedRun.Failed) found++;
    }
    assertTrue(found >= 5, "found by " + found + " of 10 seeds");
  }

  @ParameterizedTest
  @ValueSource(strings = {"embedded", "embedded-shards", "embedded-copies"})
  void aStoreOfSharedObjectsLosesNothingAndDoesNothingTwice(String name) {
    assertWell(
        name,
        name.equals("embedded") ? 120 : 42,
        List.of(
            "a call at depth 1 is done",
            "a call at depth 2 is done",
            "a call at depth 3 is done",
            "a call ends with DeadlineExceeded",
            "a call ends with Deadlock",
            "a call ends with IllegalStateException",
            "a call ends with UnknownOutcome",
            "a list ends with UnknownOutcome",
            "a list is trimmed and deleted, and leaves nothing",
            "a past version is read",
            "the disk fails during a recovery"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"timers", "timers-replicated"})
  void aTimerFiresOnceForEachOfItsTimes(String name) {
    assertWell(name, 6, List.of());
  }

  @ParameterizedTest
  @ValueSource(strings = {"expiry", "expiry-replicated"})
  void anObjectEndsOnceAndNotBeforeItsTime(String name) {
    assertWell(name, 6, List.of());
  }

  @ParameterizedTest
  @ValueSource(strings = {"indexes", "indexes-replicated"})
  void theIndexesEqualARecountWhateverCallsWereUnderWay(String name) {
    assertWell(name, 6, List.of());
  }

  @Test
  void aCallIsExecutedByTheCodeThatWasActiveForEver() {
    assertWell(
        "code",
        14,
        List.of(
            "a call ends with UnknownOutcome",
            "a deployment",
            "a past version is read",
            "a restart",
            "a rollback",
            "the disk fails during a recovery"));
  }

  @Test
  void transactionsHappenAsAWholeOnceAndOneAfterAnother() {
    assertWell(
        "transactions",
        100,
        List.of(
            "a body ends with UnknownOutcome",
            "a body is tried again",
            "a body rolls back",
            "a commit ends with Aborted",
            "a commit ends with Committed",
            "a commit ends with Unknown",
            "a commit is refused with Unavailable",
            "a method throws in a transaction",
            "a nested transaction is dropped",
            "a nested transaction is kept",
            "a ring is read",
            "additions commit beside others",
            "an unknown outcome was no commit",
            "the disk fails during a recovery",
            "the disk is full",
            "the past is read"));
    var rare = SimulatedRun.require(Scenarios.named("transactions"), 127).places().keySet();
    assertTrue(rare.contains("an unknown outcome was a commit"), rare::toString);
  }

  @Test
  void storesWithOneOrderAreOneStoreWhoeverLeadsThem() {
    assertWell(
        "groups",
        42,
        List.of(
            "a circle over stores is refused",
            "a coordinator is overtaken and does not know",
            "a list that asks another one is asked as of one moment",
            "a handler has called another store",
            "a handler was refused by another store",
            "a log is full",
            "a snapshot is read",
            "a snapshot with a name is read",
            "a store is overtaken and does not know",
            "a transaction is aborted",
            "a transaction over 4 stores is committed",
            "an answer is lost",
            "an unknown outcome was a commit",
            "entries of a list are released",
            "the outcome of a transaction is unknown",
            "the past is released",
            "the past is seen again",
            "what nobody holds is released"));
  }

  @Test
  void aStoreOpensThoughCallsOfItWaitInACircle() {
    var _ = SimulatedRun.require(Scenarios.named("groups"), 5004);
  }

  /* A caller was told that its key is gone, when another thread executed its call while it loaded the key. */
  @ParameterizedTest
  @ValueSource(longs = {423, 877})
  void aCallThatLoadingHasExecutedIsAnsweredWithWhatItDid(long seed) {
    var _ = SimulatedRun.require(Scenarios.named("groups"), seed);
  }

  @Test
  void aReplicaThatFollowsHasTheCheckpointsOfTheLeaderAndLeadsFromAnywhere() {
    assertWell(
        "standby",
        36,
        List.of(
            "a call ends with stoa.DeadlineExceeded",
            "a checkpoint is the leader's",
            "a fail-over",
            "a follower dies at rest",
            "a follower dies with work to do",
            "a deployment",
            "an event heard",
            "an object is quarantined",
            "the follower's disk fails"));
    var rare = SimulatedRun.require(Scenarios.named("standby"), 68).places().keySet();
    assertTrue(rare.contains("a state is accepted"), rare::toString);
  }

  @Test
  void transactionsOnADiskThatDoesNotSyncAreFoundOut() {
    var scenario = new TransactionScenario(chance -> LyingDisk.powered(chance.any()));
    assertFoundOut(scenario);
  }

  @Test
  void blobsLoseNoVersionAndStayWhole() {
    assertWell(
        "blob",
        60,
        List.of(
            "Abandon ends with UnknownOutcome",
            "Delete ends with UnknownOutcome",
            "Keep ends with UnknownOutcome",
            "Write ends with UnknownOutcome",
            "a deleted blob is gone",
            "a kept version is read",
            "a snapshot is released",
            "a truncation",
            "the device is maintained",
            "the disk fails during maintenance"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"streams", "streams-shards", "streams-copies"})
  void streamsLoseNothingAndStayDense(String name) {
    assertWell(
        name,
        60,
        List.of(
            "a restart",
            "an append to several streams is found whole",
            "an append ends with UnknownOutcome",
            "a hole is told",
            "a follower goes on"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"store", "store-shards"})
  void aStoreOfHandlersLosesNothingAndDoesNothingTwice(String name) {
    boolean syncsApart = name.equals("store");
    var places =
        new ArrayList<>(
            List.of(
                "a call at depth 3 is done",
                "a call is refused with DeadlineExceeded",
                "a call is refused with Deadlock",
                "a past version is read",
                "the disk fails while the store opens"));
    if (syncsApart) places.add("an answer waits for a sync that does not come");
    assertWell(name, syncsApart ? 120 : 60, places);
  }

  @ParameterizedTest
  @ValueSource(strings = {"store-releases", "store-releases-copies"})
  void aStoreThatReleasesThePastLosesNothingAndDoesNothingTwice(String name) {
    assertWell(
        name,
        name.equals("store-releases") ? 80 : 25,
        List.of(
            "a call at depth 3 is done",
            "a call is refused with DeadlineExceeded",
            "a past version is read",
            "a past version was released",
            "the disk fails while calls are resumed"));
  }

  /// Found what a checkpoint left behind: the answer to a call of the put before it.
  @Test
  void aCheckpointWaitsForTheNestedAnswersOfAllPutsBeforeIt() {
    SimulatedRun.require(Scenarios.named("store-releases-copies"), 23);
  }

  /// Found changes of an index that another replica made again, behind those of a transaction,
  /// since the first one had made a checkpoint before the log said that they were made.
  @Test
  void aCheckpointWaitsForTheNoteThatIndexesHaveTheChanges() {
    var _ = SimulatedRun.require(Scenarios.named("indexes-replicated"), 10);
  }

  @Test
  void aStoreOnADiskThatDoesNotSyncIsFoundOut() {
    var scenario =
        new EmbeddedScenario(
            "lying",
            new Layout(1, Layout.Copies.REFERENCE),
            chance -> LyingDisk.powered(chance.any()));
    assertFoundOut(scenario);
  }

  @Test
  void blobsOnADiskThatDoesNotSyncAreFoundOut() {
    var scenario = new BlobScenario("lying", chance -> LyingDisk.powered(chance.any()), 0);
    assertFoundOut(scenario);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"embedded", "embedded-shards", "streams-shards", "transactions", "blob", "store"})
  void runsOfOneSeedAreTheSame(String name) {
    var scenario = Scenarios.named(name);
    assertEquals(SimulatedRun.require(scenario, 5), SimulatedRun.require(scenario, 5));
  }
}
