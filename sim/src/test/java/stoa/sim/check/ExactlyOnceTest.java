package stoa.sim.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import stoa.sim.check.ExactlyOnce.Entry;
import stoa.sim.check.ExactlyOnce.Rule;
import stoa.sim.check.ExactlyOnce.Versions;
import stoa.sim.check.ExactlyOnce.Violation;

class ExactlyOnceTest {
  private static final String LIST = "list";

  private static List<Entry> list(String... ids) {
    List<Entry> list = new ArrayList<>();
    for (String id : ids) list.add(new Entry(id, list.size() + 1));
    return list;
  }

  private static List<Rule> rules(ExactlyOnce ledger, List<Entry> list) {
    return ledger.check(LIST, list, Versions.DENSE).stream().map(Violation::rule).toList();
  }

  private static ExactlyOnce acknowledged(String... ids) {
    var ledger = new ExactlyOnce();
    for (int i = 0; i < ids.length; i++) {
      ledger.begin(LIST, ids[i]);
      ledger.acknowledged(LIST, ids[i], i + 1);
    }
    return ledger;
  }

  @Test
  void acceptsWhatWasAcknowledgedInItsOrder() {
    assertEquals(List.of(), rules(acknowledged("a", "b", "c"), list("a", "b", "c")));
  }

  @Test
  void findsALostAcknowledgedCall() {
    assertEquals(List.of(Rule.LOST), rules(acknowledged("a", "b"), list("a")));
  }

  @Test
  void findsACallThatHappenedTwice() {
    assertEquals(List.of(Rule.TWICE), rules(acknowledged("a", "b"), list("a", "b", "b")));
  }

  @Test
  void acceptsACallInFlightAtACrashOnceOrNotAtAll() {
    for (var found : List.of(list("a"), list("a", "b"))) {
      var ledger = acknowledged("a");
      ledger.begin(LIST, "b");
      ledger.crashed();
      assertEquals(List.of(), rules(ledger, found));
    }
  }

  @Test
  void findsACallInFlightAtACrashThatHappenedTwice() {
    var ledger = acknowledged("a");
    ledger.begin(LIST, "b");
    ledger.crashed();
    assertEquals(List.of(Rule.TWICE), rules(ledger, list("a", "b", "b")));
  }

  @Test
  void findsACallInFlightAtACrashThatHappensAfterALaterCall() {
    var ledger = acknowledged("a");
    ledger.begin(LIST, "b");
    ledger.crashed();
    ledger.begin(LIST, "c");
    ledger.acknowledged(LIST, "c", 2);
    assertEquals(List.of(), rules(ledger, list("a", "c")));
    assertEquals(List.of(Rule.ORDER), rules(ledger, list("a", "c", "b")));
  }

  @Test
  void findsForeignAndRefusedIds() {
    var ledger = acknowledged("a");
    ledger.begin(LIST, "r");
    ledger.refused(LIST, "r");
    assertEquals(List.of(Rule.FOREIGN), rules(ledger, list("a", "x")));
    assertEquals(List.of(Rule.FOREIGN), rules(ledger, list("a", "r")));
  }

  @Test
  void findsAnIdInAnotherObjectsList() {
    var ledger = acknowledged("a");
    var violations = ledger.check("other", list("a"), Versions.DENSE);
    assertEquals(List.of(Rule.FOREIGN), violations.stream().map(Violation::rule).toList());
  }

  @Test
  void findsAnOrderAgainstRealTime() {
    var ledger = new ExactlyOnce();
    ledger.begin(LIST, "a");
    ledger.acknowledged(LIST, "a", 2);
    ledger.begin(LIST, "b");
    ledger.acknowledged(LIST, "b", 1);
    assertEquals(List.of(Rule.ORDER), rules(ledger, list("b", "a")));
  }

  @Test
  void acceptsEitherOrderOfOverlappingCalls() {
    for (boolean swapped : new boolean[] {false, true}) {
      var ledger = new ExactlyOnce();
      ledger.begin(LIST, "a");
      ledger.begin(LIST, "b");
      ledger.acknowledged(LIST, "a", swapped ? 2 : 1);
      ledger.acknowledged(LIST, "b", swapped ? 1 : 2);
      assertEquals(List.of(), rules(ledger, swapped ? list("b", "a") : list("a", "b")));
    }
  }

  @Test
  void findsACallThatWasSeenAndIsGone() {
    var ledger = acknowledged("a");
    ledger.begin(LIST, "b");
    ledger.crashed();
    assertEquals(List.of(), rules(ledger, list("a", "b")));
    assertEquals(List.of(Rule.CHANGED), rules(ledger, list("a")));
  }

  @Test
  void findsAnotherVersionThanWasAcknowledged() {
    var ledger = new ExactlyOnce();
    ledger.begin(LIST, "a");
    ledger.acknowledged(LIST, "a", 7);
    assertEquals(List.of(Rule.VERSION), rules(ledger, list("a")));
  }

  @Test
  void findsAGapInTheVersionsUnlessOtherCallsMayLieBetween() {
    var ledger = new ExactlyOnce();
    ledger.begin(LIST, "a");
    ledger.acknowledged(LIST, "a", 1);
    ledger.begin(LIST, "b");
    ledger.acknowledged(LIST, "b", 3);
    var list = List.of(new Entry("a", 1), new Entry("b", 3));
    assertEquals(List.of(Rule.VERSION), rules(ledger, list));
    assertEquals(List.of(), ledger.check(LIST, list, Versions.RISING));
  }

  @Test
  void findsVersionsThatGoBack() {
    var ledger = new ExactlyOnce();
    ledger.begin(LIST, "a");
    ledger.begin(LIST, "b");
    ledger.acknowledged(LIST, "a", 4);
    ledger.acknowledged(LIST, "b", 2);
    var list = List.of(new Entry("a", 4), new Entry("b", 2));
    var violations = ledger.check(LIST, list, Versions.RISING);
    assertEquals(List.of(Rule.VERSION), violations.stream().map(Violation::rule).toList());
  }

  @Test
  void requireThrowsEveryViolation() {
    var ledger = acknowledged("a", "b");
    var error =
        assertThrows(AssertionError.class, () -> ledger.require(LIST, list("x"), Versions.DENSE));
    String text = String.valueOf(error.getMessage());
    assertTrue(text.contains("FOREIGN in list: x is there"), text);
    assertTrue(text.contains("LOST in list: a was acknowledged at version 1"), text);
    assertTrue(text.contains("LOST in list: b was acknowledged at version 2"), text);
  }

  @Test
  void refusesAnIdThatWasUsedBeforeAndAnEndWithoutABeginning() {
    var ledger = acknowledged("a");
    assertThrows(IllegalArgumentException.class, () -> ledger.begin(LIST, "a"));
    assertThrows(IllegalArgumentException.class, () -> ledger.acknowledged(LIST, "a", 1));
    assertThrows(IllegalArgumentException.class, () -> ledger.refused(LIST, "b"));
  }

  @Test
  void findsEveryKindOfDamageToRandomRuns() {
    for (int seed = 0; seed < 500; seed++) {
      var random = new SplittableRandom(seed);
      var ledger = new ExactlyOnce();
      List<Entry> list = new ArrayList<>();
      List<String> acknowledged = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        String id = "i" + i;
        ledger.begin(LIST, id);
        boolean crash = random.nextInt(8) == 0;
        if (!crash || random.nextBoolean()) list.add(new Entry(id, list.size() + 1));
        if (crash) {
          ledger.crashed();
          assertEquals(List.of(), rules(ledger, list));
        } else {
          ledger.acknowledged(LIST, id, list.size());
          acknowledged.add(id);
        }
      }
      assertEquals(List.of(), rules(ledger, list));
      assertEquals(acknowledged.size(), ledger.acknowledgedCount());
      int at = random.nextInt(list.size());
      var damaged = new ArrayList<>(list);
      switch (random.nextInt(4)) {
        case 0 -> damaged.remove(at);
        case 1 -> damaged.add(at, list.get(at));
        case 2 -> damaged.set(at, new Entry("foreign", list.get(at).version()));
        default -> {
          int other = (at + 1) % list.size();
          damaged.set(at, list.get(other));
          damaged.set(other, list.get(at));
        }
      }
      assertTrue(!rules(ledger, damaged).isEmpty(), "seed " + seed);
    }
  }
}
