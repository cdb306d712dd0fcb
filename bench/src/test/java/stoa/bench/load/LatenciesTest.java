package stoa.bench.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LatenciesTest {
  @Test
  void answersZeroWhenNothingWasCounted() {
    assertEquals(0, new Latencies().quantile(0.5));
  }

  @Test
  void answersSmallValuesExactly() {
    var latencies = new Latencies();
    for (int i = 1; i <= 20; i++) latencies.add(i);
    assertEquals(10, latencies.quantile(0.5));
    assertEquals(20, latencies.quantile(0.99));
    assertEquals(20, latencies.count());
  }

  @Test
  void answersEveryValueWithinAThirtySecond() {
    var random = new SplittableRandom(7);
    for (int i = 0; i < 100_000; i++) {
      long value = random.nextLong(1, 1L << random.nextInt(1, 62));
      var latencies = new Latencies();
      latencies.add(value);
      long answered = latencies.quantile(0.5);
      assertTrue(
          answered >= value && answered - value <= value / 32,
          value + " was answered as " + answered);
    }
  }

  @Test
  void addsUpCallers() {
    var all = new Latencies();
    for (int caller = 0; caller < 4; caller++) {
      var one = new Latencies();
      one.add(caller);
      all.add(one);
    }
    assertEquals(4, all.count());
    assertEquals(1, all.quantile(0.5));
    assertEquals(3, all.quantile(1));
  }
}
