package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import stoa.sim.check.BarrierHistory;
import stoa.sim.check.CoordinationHistory;
import stoa.sim.check.CoordinationHistory.Hold;
import stoa.sim.check.ElectionHistory;
import stoa.sim.check.LoggedCall;
import stoa.sim.check.ReadWriteHistory;

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
            "a reader or writer vanishes",
            "the lease of a reader or writer has ended",
            "a leader vanishes",
            "the lease of a leader has ended",
            "a barrier opens",
            "a barrier is broken",
            "a party cancels its call",
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

  private static <S> LoggedCall<S> call(String method, int time, S after, Object... arguments) {
    return new LoggedCall<>(method, List.of(arguments), ZERO.plusMillis(time), after);
  }

  private static LoggedCall<ReadWriteHistory.State> acquire(
      String method, int time, int lease, long token, int readers) {
    var after = new ReadWriteHistory.State(token, readers);
    return call(method + "(java.time.Duration)", time, after, Duration.ofMillis(lease));
  }

  private static void requireReadWrites(List<LoggedCall<ReadWriteHistory.State>> calls) {
    var history = new ReadWriteHistory();
    for (long token = 1; token <= 3; token++) history.locked(token);
    history.require(calls);
  }

  @Test
  void findsAWriterAmongReaders() {
    var first = acquire("readLock", 1, 4, 1, 1);
    var second = acquire("readLock", 2, 4, 2, 2);
    var waits = acquire("writeLock", 3, 4, 2, 2);
    var released = call("unlock(long)", 3, new ReadWriteHistory.State(2, 1), 2L);
    var writes = acquire("writeLock", 5, 4, 3, 0);
    var refused = acquire("tryReadLock", 8, 4, 3, 0);
    requireReadWrites(List.of(first, second, waits, released, writes, refused));
    for (var wrong :
        List.of(
            List.of(first, second, acquire("writeLock", 5, 4, 3, 0)), // beside the second reader
            List.of(first, second, writes, acquire("readLock", 8, 4, 3, 1)), // beside the writer
            List.of(first, second, released, acquire("writeLock", 5, 4, 2, 0)), // an old token
            List.of(first, second, acquire("readLock", 3, 4, 3, 2)), // a reader is forgotten
            List.of(first, second))) { // callers know of more tokens
      assertThrows(AssertionError.class, () -> requireReadWrites(wrong), wrong::toString);
    }
  }

  private static LoggedCall<BarrierHistory.State> at(
      String method, int time, int arrived, boolean isBroken, Object... arguments) {
    return call(method, time, new BarrierHistory.State(arrived, isBroken), arguments);
  }

  private static void requireRounds(
      boolean opened, List<LoggedCall<BarrierHistory.State>> calls, Integer... missing) {
    var history = new BarrierHistory(2);
    for (int one : missing) history.arrived(1, one);
    history.ended(1, opened);
    history.require(calls);
  }

  @Test
  void findsARoundThatDoesNotEndForAllOfItsParties() {
    String arrive = "arrive(java.time.Duration)";
    String await = "awaitOpening(long)";
    Duration time = Duration.ofMillis(4);
    var first = at(arrive, 1, 1, false, time);
    var waits = at(await, 2, 1, false, 1L);
    var second = at(arrive, 3, 0, false, time);
    var late = at(arrive, 5, 1, true, time);
    requireRounds(true, List.of(first, waits, second), 1, 0);
    requireRounds(false, List.of(first, waits, late, at("reset()", 6, 0, false)), 1);
    requireRounds(false, List.of(first, at("leave(long)", 2, 1, true, 1L)), 1);
    for (var wrong :
        List.<Executable>of(
            () -> requireRounds(false, List.of(first, second), 1, 0), // it has opened
            () -> requireRounds(true, List.of(first, waits, late), 1), // it is broken
            () -> requireRounds(true, List.of(first, second), 1), // one party does not know
            () -> requireRounds(true, List.of(first, at(arrive, 5, 0, false, time)), 1, 0),
            () -> requireRounds(false, List.of(first, at(await, 5, 1, false, 1L)), 1),
            () -> requireRounds(true, List.of(first, second), 1, 1))) {
      assertThrows(AssertionError.class, wrong);
    }
    var history = new BarrierHistory(2);
    history.ended(1, true);
    assertThrows(AssertionError.class, () -> history.ended(1, false));
  }

  private static LoggedCall<Optional<ElectionHistory.Leader>> campaign(
      String name, int time, int lease, ElectionHistory.Leader after) {
    String method = "campaign(java.lang.String,java.time.Duration)";
    return call(method, time, Optional.of(after), name, Duration.ofMillis(lease));
  }

  private static void requireLeaders(List<LoggedCall<Optional<ElectionHistory.Leader>>> calls) {
    var history = new ElectionHistory();
    history.led(1);
    history.led(2);
    history.require(calls);
  }

  private static ElectionHistory.Leader leader(String name, long token, int end) {
    return new ElectionHistory.Leader(name, token, ZERO.plusMillis(end));
  }

  @Test
  void findsTwoLeadersAtOnePlaceInTheLog() {
    var anna = campaign("anna", 1, 4, leader("anna", 1, 5));
    var waits = campaign("ben", 2, 4, leader("anna", 1, 5));
    var ben = campaign("ben", 5, 4, leader("ben", 2, 9));
    LoggedCall<Optional<ElectionHistory.Leader>> resigned =
        call("resign(long)", 6, Optional.empty(), 2L);
    requireLeaders(List.of(anna, waits, ben, resigned));
    for (var wrong :
        List.of(
            List.of(anna, campaign("ben", 4, 4, leader("ben", 2, 8))), // too early
            List.of(anna, campaign("ben", 5, 4, leader("ben", 1, 9))), // an old token
            List.of(
                anna, ben, call("resign(long)", 6, Optional.<ElectionHistory.Leader>empty(), 1L)),
            List.of(anna, waits))) { // candidates know of more leaderships
      assertThrows(AssertionError.class, () -> requireLeaders(wrong), wrong::toString);
    }
  }
}
