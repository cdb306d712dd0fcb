package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HeldLogTest {
  private final List<Long> pinned = new ArrayList<>();
  private final HeldLog held =
      new HeldLog(counter -> {
        pinned.add(counter);
        return () -> pinned.remove(counter);
      });

  @Test
  void holdsTheLogFromTheChangeOnThatBeginsTheListener() {
    held.changed(10);
    assertEquals(List.of(10L), pinned);
    held.hold(8);
    assertEquals(List.of(8L), pinned);
    held.hold(12);
    assertEquals(List.of(12L), pinned);
    assertTrue(held.end(held.changes()));
    assertEquals(List.of(), pinned);
    held.changed(20);
    assertEquals(List.of(20L), pinned);
  }

  @Test
  void aListenerThatBeginsWhileTheOneBeforeEndsHasAPin() {
    held.changed(10);
    held.hold(10);
    held.changed(11); // the end of the first listener
    long seen = held.changes();
    held.changed(12); // the beginning of the next one, after the deliverer has looked
    assertFalse(held.end(seen));
    assertEquals(List.of(10L), pinned);
    held.hold(12);
    assertEquals(List.of(12L), pinned);
  }

  @Test
  void aListenerThatHasFailedForLongHoldsNothingUntilItBeginsAgain() {
    held.changed(10);
    held.hold(10);
    long seen = held.changes();
    assertTrue(held.end(seen));
    assertEquals(List.of(), pinned);
    held.changed(12); // it ends, and another one begins, before the deliverer looks again
    assertFalse(held.end(seen));
    assertEquals(List.of(12L), pinned);
    held.hold(12);
    assertEquals(List.of(12L), pinned);
  }

  @Test
  void theEarliestOfTheListenersThatBeginBeforeTheDelivererLooksHasAPin() {
    held.changed(Long.MAX_VALUE); // there is none
    assertEquals(List.of(), pinned);
    held.changed(10);
    held.changed(Long.MAX_VALUE);
    held.changed(7);
    held.changed(9);
    assertEquals(List.of(7L), pinned);
  }
}
