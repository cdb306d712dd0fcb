package stoa.links;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import stoa.base.StreamId;

class NamesTest {
  private static StreamId object(int number) {
    return new StreamId(7, number);
  }

  @Test
  void namesThatNoCallUsesAreGivenUpForOthers() {
    var names = new Names(10);
    for (int i = 0; i < 1_000; i++) {
      if (i > 0) assertTrue(names.isKnown(object(0)), "it is used again and again");
      assertFalse(names.isKnown(object(i)));
      names.add(object(i), new Frame.Named("type " + i, new byte[0]));
      assertTrue(names.isKnown(object(i)));
    }
    var all = new TreeSet<String>();
    names.all().forEach(named -> all.add(named.type()));
    assertEquals(10, all.size());
    assertTrue(all.contains("type 0"));
    assertTrue(all.contains("type 999"));
  }
}
