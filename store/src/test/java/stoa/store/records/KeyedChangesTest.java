package stoa.store.records;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import stoa.base.StreamId;

class KeyedChangesTest {
  private static long tag(long stream, int part) {
    return KeyedChanges.tag(new StreamId(stream, 7), part, 0);
  }

  @Test
  void neverForgetsThatAPartHasChanged() {
    var changes = new KeyedChanges();
    var random = new SplittableRandom(1);
    Map<Long, Long> exact = new HashMap<>();
    for (long counter = 1; counter <= 100_000; counter++) {
      long changed = tag(random.nextInt(20), random.nextInt(5_000));
      changes.record(changed, counter);
      exact.put(changed, counter);
      long asked = tag(random.nextInt(20), random.nextInt(5_000));
      long last = exact.getOrDefault(asked, 0L);
      assertTrue(changes.last(asked) >= last, "changed at " + last);
      assertTrue(changes.last(asked) <= counter, "no change is later");
    }
  }

  @Test
  void remembersTheLastThousandChangesExactly() {
    var changes = new KeyedChanges();
    long counter = 0;
    for (int part = 0; part < 100_000; part++) changes.record(tag(1, part), ++counter);
    long behind = counter;
    for (int part = 0; part < 1_000; part++) changes.record(tag(2, part), ++counter);
    int exact = 0;
    for (int part = 0; part < 1_000; part++) {
      assertEquals(behind + part + 1, changes.last(tag(2, part)));
      if (changes.last(tag(3, part)) <= behind) exact++;
    }
    assertTrue(exact >= 999, "of 1000 parts that did not change, %d are known".formatted(exact));
  }

  @Test
  void partsOfStreamsAndKindsOfChangesAreApart() {
    var stream = new StreamId(1, 2);
    var changes = new KeyedChanges();
    changes.record(KeyedChanges.tag(stream, 5, 0), 10);
    assertEquals(10, changes.last(KeyedChanges.tag(stream, 5, 0)));
    assertEquals(0, changes.last(KeyedChanges.tag(stream, 5, 1)));
    assertEquals(0, changes.last(KeyedChanges.tag(stream, 6, 0)));
    assertEquals(0, changes.last(KeyedChanges.tag(new StreamId(2, 1), 5, 0)));
  }
}
