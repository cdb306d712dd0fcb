package stoa.sim.world;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import stoa.sim.Chance;

class RingTest {
  private final Ring ring = Ring.of(List.of("a", "b", "c", "d"));

  private String problem(Map<String, String> references) {
    assertThrows(AssertionError.class, () -> ring.require(references));
    return ring.problem(references).orElseThrow();
  }

  @Test
  void movesKeepItOneRing() {
    var chance = new Chance(1);
    var objects = List.of("a", "b", "c", "d", "e", "f");
    var now = Ring.of(objects);
    for (int i = 0; i < 500; i++) {
      var references = new HashMap<>(now.references());
      references.putAll(now.move(chance.of(objects), chance.of(objects)));
      now = now.require(references);
    }
  }

  @Test
  void aMoveChangesThreeReferencesOrNone() {
    assertEquals(Map.of("a", "c", "b", "d", "c", "b"), ring.move("b", "c"));
    assertEquals(Map.of(), ring.move("b", "a"));
    assertEquals(Map.of(), ring.move("b", "b"));
  }

  @Test
  void halfAMoveIsNoRing() {
    var move = ring.move("b", "c");
    for (String left : move.keySet()) {
      var references = new HashMap<>(ring.references());
      references.putAll(move);
      references.put(left, ring.references().getOrDefault(left, ""));
      assertTrue(ring.problem(references).isPresent(), references::toString);
    }
  }

  @Test
  void twoMovesThatDidNotSeeEachOtherAreNoRing() {
    var references = new HashMap<>(ring.references());
    references.putAll(ring.move("b", "c"));
    references.putAll(ring.move("c", "d"));
    assertTrue(ring.problem(references).isPresent(), references::toString);
  }

  @Test
  void saysWhatIsWrong() {
    assertEquals(
        "the ring [a, b] lacks [c, d]", problem(Map.of("a", "b", "b", "a", "c", "d", "d", "c")));
    assertEquals(
        "the way from a does not come back: [a, b, c], then b",
        problem(Map.of("a", "b", "b", "c", "c", "b", "d", "a")));
    assertEquals(
        "b refers to x, which is none of the objects",
        problem(Map.of("a", "b", "b", "x", "c", "d", "d", "a")));
    assertEquals("the objects are [a, b], not [a, b, c, d]", problem(Map.of("a", "b", "b", "a")));
  }

  @Test
  void refusesToBeginWithoutObjectsOrWithOneTwice() {
    assertThrows(IllegalArgumentException.class, () -> Ring.of(List.of()));
    assertThrows(IllegalArgumentException.class, () -> Ring.of(List.of("a", "a")));
    assertThrows(IllegalArgumentException.class, () -> ring.move("a", "x"));
  }
}
