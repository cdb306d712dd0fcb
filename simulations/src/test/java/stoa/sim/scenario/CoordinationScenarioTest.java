package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
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
            "another version of the lock is deployed",
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

  private static Hold lock(int time, int lease, long token, int end) {
    return hold("lock(java.time.Duration)", List.of(Duration.ofMillis(lease)), time, token, end);
  }

  private static Hold unlock(int time, long held, long token, int end) {
    return hold("unlock(long)", List.of(held), time, token, end);
  }

  private static Hold renew(int time, long held, int lease, long token, int end) {
    var arguments = List.of(held, Duration.ofMillis(lease));
    return hold("renew(long,java.time.Duration)", arguments, time, token, end);
  }

  private static Hold hold(String method, List<?> arguments, int time, long token, int end) {
    return new Hold(method, arguments, ZERO.plusMillis(time), token, ZERO.plusMillis(end));
  }

  @Test
  void findsHoldersThatOverlapAndElementsThatAreLostOrTakenTwice() {
    List<Hold> apart = List.of(lock(1, 4, 1, 5), lock(3, 4, 1, 5), lock(5, 4, 2, 9));
    history().require(apart, List.of(2, 0, 2), List.of("b"));
    for (var wrong :
        List.of(
            List.of(lock(1, 4, 1, 5), lock(4, 4, 2, 8)), // too early
            List.of(lock(1, 4, 1, 5), lock(5, 4, 3, 9)), // a token is left out
            List.of(lock(1, 4, 1, 5), lock(5, 4, 1, 9), lock(9, 4, 2, 13)), // and given twice
            List.of(lock(1, 4, 1, 5), lock(5, 4, 2, 9), unlock(6, 1, 2, 0)), // by another holder
            List.of(lock(1, 4, 1, 5), renew(5, 1, 4, 1, 9), lock(9, 4, 2, 13)), // too late
            List.of(lock(1, 4, 1, 5)))) {
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
