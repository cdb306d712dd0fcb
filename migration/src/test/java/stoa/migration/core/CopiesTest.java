package stoa.migration.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import stoa.base.StreamId;

/// The copies that a node keeps although it does not need them.
class CopiesTest {
  private static Copy copy(int object, long number) {
    return new Copy(new StreamId(0, object), new CopyVersion(1, number), new byte[10]);
  }

  private static List<Integer> evicted(Copies copies, long bytesMax) {
    return copies.evict(bytesMax, _ -> true).stream()
        .map(copy -> (int) copy.object().low())
        .toList();
  }

  @Test
  void letsGoWhatTheParentHasAndNothingDependsOnTheLeastRecentlyUsedFirst() {
    var copies = new Copies(false);
    for (int object = 1; object <= 5; object++) copies.save(copy(object, 1));
    for (int object = 1; object <= 4; object++) copies.isAbove(copy(object, 1));
    copies.depend(new Dependency(copy(3, 1).object(), copy(1, 1).object()));
    assertEquals(1, copies.get(copy(1, 1).object()).version().number());
    var _ = copies.find(copy(1, 1).object()); // used last
    assertEquals(50, copies.bytes());
    assertEquals(List.of(2, 4), evicted(copies, 30));
    assertEquals(List.of(1), evicted(copies, 0)); // not 3, which depends, and 5, which is only here
    assertEquals(20, copies.bytes());
  }

  @Test
  void takesNothingThatIsOlderThanWhatItLetGo() {
    var copies = new Copies(false);
    copies.save(copy(1, 7));
    copies.isAbove(copy(1, 7));
    assertEquals(List.of(1), evicted(copies, 0));
    assertFalse(copies.save(copy(1, 6)));
    assertTrue(copies.save(copy(1, 7)));
    assertEquals(10, copies.bytes());
  }

  @Test
  void looksAtAFewOnlyAndAtOthersTheNextTime() {
    var copies = new Copies(false);
    for (int object = 1; object <= 40; object++) copies.save(copy(object, 1));
    copies.isAbove(copy(40, 1));
    assertEquals(List.of(), evicted(copies, 0));
    assertEquals(List.of(), evicted(copies, 0));
    assertEquals(List.of(40), evicted(copies, 0));
  }
}
