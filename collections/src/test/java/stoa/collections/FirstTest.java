package stoa.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import org.junit.jupiter.api.Test;
import stoa.Stoa;

class FirstTest {
  @Test
  void works() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var map = stoa.map("m", String.class, Long.class);
      for (long i = 0; i < 1000; i++) map.put("k" + i, i);
      assertEquals(1000, map.size());
      assertEquals(7L, map.get("k7"));
      map.merge("k7", 3L, Long::sum);
      assertEquals(10L, map.get("k7"));
      var it = map.entrySet().iterator();
      long sum = 0;
      for (int n = 0; it.hasNext(); n++) {
        sum += it.next().getValue();
        if (n == 10) map.clear();
      }
      assertEquals(999L * 500 + 3, sum);
      var sorted = stoa.navigableMap("s", String.class, Long.class);
      sorted.put("a", 1L);
      sorted.put("b", 2L);
      assertEquals("b", sorted.higherKey("a"));
      var list = stoa.list("l", String.class);
      list.add("x");
      list.addAll(new ArrayList<>(java.util.List.of("y", "z")));
      assertEquals("z", stoa.stack("l", String.class).pop());
      assertEquals("x", stoa.queue("l", String.class).poll());
      assertEquals(java.util.List.of("y"), list);
      var ranges = stoa.rangeMap("r", Long.class, String.class);
      ranges.put(0L, 10L, "a");
      ranges.put(3L, 5L, "b");
      assertEquals(3, ranges.size());
      System.out.println(ranges);
    }
  }
}
