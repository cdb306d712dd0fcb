package stoa.ratis;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ContinuityTest {
  private final Continuity continuity = new Continuity(100, 5_000);

  @Test
  void aLeaseIsNotTrustedBeforeSomethingWasAgreedTo() {
    assertFalse(continuity.holds(5_001));
    continuity.agreed(5_010);
    assertTrue(continuity.holds(5_110));
  }

  @Test
  void looksThatFollowSoonAreAChain() {
    continuity.agreed(5_000);
    for (int now = 5_050; now < 9_000; now += 100) assertTrue(continuity.holds(now));
  }

  @Test
  void aLeaseThatMayHaveBeenLostMeanwhileIsNotTrusted() {
    continuity.agreed(5_000);
    assertFalse(continuity.holds(5_101));
    assertFalse(continuity.holds(5_102));
  }

  @Test
  void whatWasProposedLongBeforeItWasAgreedToProvesNothing() {
    continuity.agreed(5_000);
    continuity.agreed(4_000);
    assertTrue(continuity.holds(5_100));
    continuity.agreed(5_300);
    assertFalse(continuity.holds(5_401));
  }
}
