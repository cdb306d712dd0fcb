package stoa.base;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class TopsTest {
  @Test
  void countsExactlyWhileThereIsRoom() {
    var tops = new Tops(3);
    for (String what : List.of("a", "b", "a", "c", "a", "b")) tops.count(what);
    assertEquals(List.of(new Tops.Top("a", 3), new Tops.Top("b", 2)), tops.most(2));
    assertEquals(6, tops.total());
  }

  @Test
  void keepsWhatIsFrequentAmongVeryManyThings() {
    var tops = new Tops(20);
    var random = new SplittableRandom(3);
    for (int i = 0; i < 20_000; i++) {
      tops.count(i % 5 == 0 ? "hot" : "cold" + random.nextInt(1_000_000));
    }
    Tops.Top first = tops.most(1).getFirst();
    assertEquals("hot", first.what());
    assertTrue(first.count() >= 4_000 && first.count() <= 4_000 + 20_000 / 20, "" + first);
    assertEquals(20, tops.most(100).size());
  }
}
