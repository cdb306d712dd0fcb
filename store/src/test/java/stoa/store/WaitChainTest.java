package stoa.store;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import stoa.store.running.WaitChain;

class WaitChainTest {
  @Test
  void aWalkThatComesToACircleFromAnywhereEnds() {
    for (int before = 0; before < 40; before++) {
      for (int length = 1; length < 40; length++) {
        var chain = new WaitChain();
        int at = 0;
        int steps = 0;
        while (!chain.isCircle(at)) {
          at = at + 1 < before + length ? at + 1 : before;
          steps++;
          assertTrue(steps <= 4 * (before + length), "a circle of " + length + " behind " + before);
        }
        assertTrue(steps >= before + length, "no run was met twice before");
      }
    }
  }

  @Test
  void aWalkWithoutACircleGoesOn() {
    var chain = new WaitChain();
    for (int run = 0; run < 10_000; run++) assertFalse(chain.isCircle(run));
  }
}
