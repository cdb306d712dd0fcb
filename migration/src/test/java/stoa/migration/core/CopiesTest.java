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
    var copies = new Copies();
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
    var copies = new Copies();
    copies.save(copy(1, 7));
    copies.isAbove(copy(1, 7));
    assertEquals(List.of(1), evicted(copies, 0));
    assertFalse(copies.save(copy(1, 6)));
    assertTrue(copies.save(copy(1, 7)));
    assertEquals(10, copies.bytes());
  }

  @Test
  void theRootForgetsTheVersionsThatItDroppedFirst() {
    var copies = new Copies(2);
    assertEquals(0, copies.unknown());
    for (int object = 1; object <= 3; object++) {
      copies.save(copy(object, object));
      assertEquals(List.of(object), evicted(copies, 0));
    }
    assertEquals(CopyVersion.NONE, copies.version(copy(1, 1).object()));
    assertEquals(2, copies.version(copy(2, 2).object()).number());
    assertEquals(3, copies.version(copy(3, 3).object()).number());
    assertEquals(2, copies.unknown()); // the generation above that of the forgotten version
    copies.save(copy(2, 9));
    copies.save(copy(1, 9));
    assertEquals(List.of(2, 1), evicted(copies, 0)); // object 3 was dropped before them
    assertEquals(CopyVersion.NONE, copies.version(copy(3, 3).object()));
  }

  @Test
  void looksAtAFewOnlyAndAtOthersTheNextTime() {
    var copies = new Copies();
    for (int object = 1; object <= 40; object++) copies.save(copy(object, 1));
    copies.isAbove(copy(40, 1));
    assertEquals(List.of(), evicted(copies, 0));
    assertEquals(List.of(), evicted(copies, 0));
    assertEquals(List.of(40), evicted(copies, 0));
  }
}
