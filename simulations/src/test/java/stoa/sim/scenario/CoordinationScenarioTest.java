package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import stoa.sim.check.CoordinationHistory;
import stoa.sim.check.CoordinationHistory.Hold;

/// Locks, semaphores and blocking queues keep their promises while leaders come and go.
class CoordinationScenarioTest {
  private static final Instant ZERO = Instant.EPOCH;

  @Test
  void noTwoHoldersOverlapAndNoElementIsLostWhileLeadersFail() {
    SortedMap<String, Long> places = new TreeMap<>();
    for (long seed = 0; seed < 6; seed++) {
      SimulatedRun.require(Scenarios.named("coordination"), seed)
          .places()
          .forEach((place, count) -> places.merge(place, count, Long::sum));
    }
    for (var place :
        List.of(
            "a holder vanishes",
            "a lease has ended before its holder unlocks",
            "a repeated call was executed before",
            "a repeated call waits again",
            "a server is overtaken and does not know")) {
      assertTrue(places.containsKey(place), () -> place + " is not among " + places);
    }
  }

  @Test
  void runsOfOneSeedHaveEqualTraces() {
    var scenario = Scenarios.named("coordination");
    assertEquals(SimulatedRun.require(scenario, 7), SimulatedRun.require(scenario, 7));
  }

  private static CoordinationHistory history() {
    var history = new CoordinationHistory(2);
    history.locked(1);
    history.locked(2);
    history.put("a");
    history.put("b");
    history.took("a");
    return history;
  }

  private static Hold hold(long token, int time, int endBefore, int end) {
    return new Hold(
        ZERO.plusMillis(time), token, token - 1, ZERO.plusMillis(endBefore), ZERO.plusMillis(end));
  }

  @Test
  void findsHoldersThatOverlapAndElementsThatAreLostOrTakenTwice() {
    List<Hold> apart = List.of(hold(1, 1, 0, 5), hold(2, 5, 5, 9));
    history().require(apart, List.of(2, 0, 2), List.of("b"));
    for (var wrong :
        List.of(
            List.of(hold(1, 1, 0, 5), hold(2, 4, 5, 9)),
            List.of(hold(1, 1, 0, 5), hold(3, 5, 5, 9)),
            List.of(hold(1, 1, 0, 5)))) {
      assertThrows(AssertionError.class, () -> history().require(wrong, List.of(2), List.of("b")));
    }
    for (var free : List.of(List.of(2, 3, 2), List.of(2, -1, 2), List.of(2, 1))) {
      assertThrows(AssertionError.class, () -> history().require(apart, free, List.of("b")));
    }
    for (var left : List.of(List.<String>of(), List.of("a", "b"), List.of("b", "c"))) {
      assertThrows(AssertionError.class, () -> history().require(apart, List.of(2), left));
    }
    assertThrows(AssertionError.class, () -> history().took("a"));
    assertThrows(AssertionError.class, () -> history().locked(2));
  }
}
