package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import stoa.StreamKey;
import stoa.client.AppendTurns.Kind;

class AppendTurnsTest {
  private static final StreamKey A = StreamKey.of("a");
  private static final StreamKey B = StreamKey.of("b");

  private final AppendTurns turns = new AppendTurns();

  private AppendTurns.Place one(StreamKey... streams) {
    return turns.enter(List.of(streams), Kind.IN_ONE_GROUP);
  }

  private AppendTurns.Place across(StreamKey... streams) {
    return turns.enter(List.of(streams), Kind.OVER_GROUPS);
  }

  @Test
  void appendsInOneGroupBeginBesideEachOther() {
    var first = one(A);
    var second = one(A, B);
    assertTrue(first.mayBegin());
    assertTrue(second.mayBegin());
    first.leave();
    second.leave();
    assertEquals(0, turns.size());
  }

  @Test
  void anAppendOverGroupsIsAloneOnItsStreams() {
    var before = List.of(one(A), one(A), one(B));
    var across = across(A, B);
    var after = one(B);
    for (var one : before) {
      assertFalse(across.mayBegin());
      one.leave();
    }
    assertTrue(across.mayBegin());
    assertFalse(after.mayBegin());
    across.leave();
    assertTrue(after.mayBegin());
    after.leave();
    assertEquals(0, turns.size());
  }

  @Test
  void noAppendOvertakesOneThatHadToWait() {
    var across = across(A, B);
    var second = one(A);
    var third = one(A);
    across.leave();
    assertTrue(second.mayBegin());
    assertFalse(third.mayBegin());
    assertFalse(one(A).mayBegin());
    second.begun();
    assertFalse(third.mayBegin());
    second.leave();
    assertTrue(third.mayBegin());
  }

  @Test
  void appendsOfDisjointStreamsWaitForNobody() {
    assertTrue(across(A).mayBegin());
    assertTrue(across(B).mayBegin());
  }
}
