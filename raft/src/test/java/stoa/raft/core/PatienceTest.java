package stoa.raft.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PatienceTest {
  private final Patience patience = new Patience(200, 3, 7);

  private void termsWithoutALeader(int first, int last) {
    for (int term = first; term <= last; term++) patience.inTerm(term);
  }

  @Test
  void theElectionAfterALeaderDoesNotWait() {
    patience.inTerm(7);
    patience.inTerm(8);
    patience.votes(1_000);
    assertFalse(patience.waits(1_001));
    patience.hasLeader();
    patience.inTerm(9);
    patience.votes(2_000);
    assertFalse(patience.waits(2_001));
    assertEquals(1, patience.factor());
  }

  @Test
  void eachTermWithoutALeaderDoublesTheWaitUpToABound() {
    termsWithoutALeader(8, 9);
    patience.votes(1_000);
    assertTrue(patience.waits(1_399));
    assertFalse(patience.waits(1_400));
    termsWithoutALeader(10, 20);
    assertEquals(8, patience.factor());
    patience.votes(3_000);
    assertTrue(patience.waits(4_599));
    assertFalse(patience.waits(4_600));
  }

  // Otherwise a candidate whose log is too short would keep the others from standing.
  @Test
  void theTermOfACandidateThatGetsNoVoteDoesNotBeginTheWaitAnew() {
    termsWithoutALeader(8, 9);
    patience.votes(1_000);
    patience.inTerm(10);
    assertTrue(patience.waits(1_799));
    assertFalse(patience.waits(1_800));
  }

  @Test
  void aLeaderEndsTheWait() {
    termsWithoutALeader(8, 10);
    patience.votes(1_000);
    patience.hasLeader();
    assertFalse(patience.waits(1_001));
  }

  @Test
  void anEarlierTermChangesNothing() {
    patience.inTerm(8);
    patience.inTerm(6);
    assertEquals(1, patience.factor());
  }
}
