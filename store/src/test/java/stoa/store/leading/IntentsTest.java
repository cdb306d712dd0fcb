package stoa.store.leading;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import stoa.base.Footprint;
import stoa.base.StreamId;

/// Intents hold back what they must, for as long as they may, in turn.
class IntentsTest {
  private static final StreamId A = new StreamId(0, 1);
  private static final StreamId B = new StreamId(0, 2);
  private static final StreamId C = new StreamId(0, 3);
  private static final Footprint ALL = Footprint.ALL;

  private final AtomicLong micros = new AtomicLong(1_000);
  private final AtomicInteger settled = new AtomicInteger();
  private final Intents intents = new Intents(micros::get, 3);

  private Intents.Intent declare(StreamId... streams) {
    var used = new HashMap<StreamId, Set<Footprint>>();
    for (StreamId stream : streams) used.put(stream, Set.of());
    return declare(used);
  }

  private Intents.Intent declare(Map<StreamId, Set<Footprint>> used) {
    return Objects.requireNonNull(
        intents.declare(used, Set.of(), 100, 1_000, settled::incrementAndGet));
  }

  private static Footprint part(int number, boolean commuting) {
    return new Footprint(true, number, commuting, 1);
  }

  @Test
  void holdsBackTheChangesOfOthersThatConflictWithItsParts() {
    var own =
        declare(
            Map.of(
                A, Set.of(part(1, false), part(2, true)),
                B, Set.of(Footprint.commutingAll(1)),
                C, Set.of()));
    assertTrue(own.isStanding());
    assertEquals(1, settled.get());
    assertTrue(intents.holdsBack(A, part(1, true)));
    assertTrue(intents.holdsBack(A, part(2, false)));
    assertTrue(intents.holdsBack(A, ALL));
    assertTrue(intents.holdsBack(A, Footprint.commutingAll(1)));
    assertTrue(intents.holdsBack(A, new Footprint(true, 9, true, 2)), "of other code");
    assertFalse(intents.holdsBack(A, part(2, true)));
    assertFalse(intents.holdsBack(A, part(3, false)));
    assertFalse(intents.holdsBack(B, part(3, true)));
    assertTrue(intents.holdsBack(B, part(3, false)));
    assertTrue(intents.holdsBack(C, part(3, true)));
    assertFalse(intents.holdsBack(new StreamId(0, 4), ALL));
    assertFalse(intents.end(declare(new StreamId(0, 5))), "it held back nothing");
    assertTrue(intents.end(own));
    assertFalse(intents.end(own), "it is over");
    assertFalse(intents.holdsBack(C, ALL));
  }

  @Test
  void standsInTheOrderOfTheDeclarationsAndAfterWhatWasHeldBack() {
    var first = declare(A, B);
    var second = declare(B, C);
    var third = declare(C);
    assertFalse(second.isStanding());
    assertFalse(third.isStanding(), "it does not overtake the second");
    assertFalse(intents.holdsBack(C, ALL), "what waits holds back nothing");
    assertTrue(intents.holdsBack(B, ALL));
    assertTrue(intents.end(first));
    assertFalse(second.isStanding(), "what was held back comes first");
    intents.passed();
    assertTrue(second.isStanding());
    assertFalse(third.isStanding());
    assertFalse(intents.end(second));
    assertTrue(third.isStanding());
    assertEquals(third, intents.find(third.id()));
    assertNull(intents.find(second.id()));
  }

  @Test
  void standsAndWaitsForABoundedTime() {
    var first = declare(A);
    assertTrue(intents.holdsBack(A, ALL));
    var second = declare(A);
    micros.addAndGet(99);
    assertFalse(intents.tick());
    micros.addAndGet(1);
    assertTrue(intents.tick(), "the leader looks again");
    assertFalse(first.isStanding());
    assertTrue(second.isWaiting());
    micros.addAndGet(900);
    assertFalse(intents.tick());
    assertFalse(second.isWaiting());
    assertFalse(second.isStanding());
    assertEquals(2, settled.get());
    intents.passed();
    assertTrue(declare(A).isStanding());
  }

  @Test
  void isRefusedWhenThereAreTooManyOrItHasTooManyKeys() {
    var many = new HashMap<StreamId, Set<Footprint>>();
    for (int i = 0; i < 1_025; i++) many.put(new StreamId(1, i), Set.of());
    assertNull(intents.declare(many, Set.of(), 1, 1, () -> {}));
    assertNull(intents.declare(Map.of(), Set.of(), 1, 1, () -> {}));
    for (int i = 0; i < 64; i++) assertNotNull(declare(A));
    assertNull(intents.declare(Map.of(A, Set.of()), Set.of(), 1, 1, () -> {}));
  }

  @Test
  void learnsWhoseCallsChangeItsKeysAndHoldsTheNextOnesBack() {
    var intent = declare(A);
    assertFalse(intents.holdsBack(B, ALL));
    intents.passes(C, ALL, B);
    assertFalse(intents.holdsBack(B, ALL), "its calls change another key");
    intents.passes(A, ALL, B);
    assertTrue(intents.holdsBack(B, ALL));
    intents.passes(B, ALL, C);
    assertTrue(intents.holdsBack(C, ALL), "the caller of the caller");
    assertEquals(Set.of(B, C), intent.callers());
  }
}
