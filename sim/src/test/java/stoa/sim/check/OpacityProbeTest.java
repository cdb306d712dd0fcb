package stoa.sim.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class OpacityProbeTest {
  private final OpacityProbe probe = new OpacityProbe(101);

  @Test
  void statesThatWereAreWell() {
    assertEquals(101, probe.saw("a", 51, 50));
    assertEquals(-101, probe.saw("b", 50, 51));
    assertEquals(2, probe.count());
    probe.require();
  }

  @Test
  void aTornStateThrowsAndIsRemembered() {
    assertThrows(IllegalStateException.class, () -> probe.saw("doomed", 51, 51 + 9));
    var error = assertThrows(AssertionError.class, probe::require);
    assertTrue(
        String.valueOf(error.getMessage()).contains("doomed saw 51 and 60"), error::toString);
  }

  @Test
  void equalValuesDivideByZero() {
    assertThrows(ArithmeticException.class, () -> probe.saw("doomed", 50, 50));
    assertThrows(AssertionError.class, probe::require);
  }

  @Test
  void refusesASumThatTwoEqualValuesMake() {
    assertThrows(IllegalArgumentException.class, () -> new OpacityProbe(100));
  }
}
