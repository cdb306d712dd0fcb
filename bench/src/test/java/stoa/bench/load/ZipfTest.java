package stoa.bench.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ZipfTest {
  private static int[] counts(Zipf zipf, int keys) {
    var random = new SplittableRandom(1);
    int[] counts = new int[keys];
    for (int i = 0; i < 100_000; i++) counts[zipf.next(random)]++;
    return counts;
  }

  @Test
  void uniformKeysComeEquallyOften() {
    for (int count : counts(Zipf.uniform(10), 10)) assertEquals(10_000, count, 500);
  }

  @Test
  void theFirstOfSkewedKeysComesTwiceAsOftenAsTheSecond() {
    int[] counts = counts(Zipf.skewed(1_000), 1_000);
    assertEquals(Math.pow(2, 0.99), (double) counts[0] / counts[1], 0.1);
    assertTrue(counts[999] < counts[0] / 100, () -> "the last came " + counts[999] + " times");
  }
}
