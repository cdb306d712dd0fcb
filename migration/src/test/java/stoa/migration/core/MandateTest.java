package stoa.migration.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/// A mandate holds from when the root asked, by every clock.
class MandateTest {
  private static final long LENGTH = 100;

  @Test
  void holdsForItsLengthFromWhenTheRootAsked() {
    var mandate = new Mandate(LENGTH);
    assertFalse(mandate.holds(7));
    assertEquals(Mandate.NONE, mandate.age(7));
    mandate.confirmed(1_000);
    assertTrue(mandate.holds(1_099));
    assertFalse(mandate.holds(1_100));
    mandate.confirmed(990); // an answer that came late
    assertTrue(mandate.holds(1_099));
    mandate.confirmed(1_050);
    assertTrue(mandate.holds(1_149));
  }

  /* The child's clock shows 5,000 more than the parent's; a message takes 10 each way. */
  @Test
  void goesDownWithoutComparingClocksAndNeverBecomesYounger() {
    var parent = new Mandate(LENGTH);
    parent.confirmed(1_000);
    var child = new Mandate(LENGTH);
    long stamp = 6_030;
    long came = stamp - 5_000 + 10;
    child.heard(stamp, parent.age(came));
    assertTrue(child.holds(6_089));
    assertFalse(child.holds(6_090));
  }

  @Test
  void oneThatWasGivenAfterTheEchoIsYoungerThanThat() {
    var parent = new Mandate(LENGTH);
    parent.confirmed(1_060);
    var child = new Mandate(LENGTH);
    child.heard(6_030, parent.age(1_040));
    assertTrue(child.holds(6_149));
    assertFalse(child.holds(6_150));
  }

  @Test
  void whoHasNoneGivesNone() {
    var child = new Mandate(LENGTH);
    child.heard(6_030, new Mandate(LENGTH).age(1_000));
    assertFalse(child.holds(6_031));
  }
}
