package stoa.migration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import stoa.base.StreamId;

class NamesTest {
  private static StreamId object(int number) {
    return new StreamId(7, number);
  }

  @Test
  void namesThatNoCallUsesAreGivenUpForOthers() {
    var names = new Names<String>(10);
    for (int i = 0; i < 1_000; i++) {
      if (i > 0) assertEquals("name 0", names.find(object(0)), "it is used again and again");
      assertNull(names.find(object(i)));
      assertTrue(names.add(object(i), "name " + i));
      names.mayGo(object(i), true);
      assertEquals("name " + i, names.find(object(i)));
    }
    var all = new TreeSet<>(names.all());
    assertEquals(10, all.size());
    assertTrue(all.contains("name 0"));
    assertTrue(all.contains("name 999"));
  }

  @Test
  void thereIsNoRoomForAnotherNameWhenAllMustStay() {
    var names = new Names<String>(3);
    for (int i = 0; i < 3; i++) assertTrue(names.add(object(i), "name " + i));
    assertFalse(names.add(object(3), "name 3"));
    names.mayGo(object(0), true);
    names.mayGo(object(1), true);
    names.mayGo(object(0), false);
    assertTrue(names.add(object(3), "name 3"));
    assertEquals(List.of("name 0", "name 2", "name 3"), names.all().stream().sorted().toList());
    assertFalse(names.add(object(4), "name 4"));
  }
}
