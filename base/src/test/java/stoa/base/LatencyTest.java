package stoa.base;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LatencyTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long SLOW = 1_000_000;

  private static void slow(Latency latency, long nanos) {
    int weight = latency.begin();
    latency.end(weight, nanos);
  }

  @Test
  void tellsQuantilesWithinAnEighth() {
    var latency = new Latency();
    var random = new SplittableRandom(7);
    var all = new ArrayList<Long>();
    for (int i = 0; i < 10_000; i++) {
      long nanos = SLOW + (long) (Math.exp(random.nextDouble() * 10) * 10_000);
      all.add(nanos);
      slow(latency, nanos);
    }
    all.sort(null);
    for (double quantile : new double[] {0.01, 0.5, 0.95, 0.99, 0.999}) {
      double exact = all.get((int) (quantile * all.size()) - 1);
      double told = latency.quantilesNanos(0, quantile)[0];
      assertEquals(exact, told, exact / 8, "quantile " + quantile);
    }
    assertEquals(10_000, latency.count());
    assertEquals(all.stream().mapToLong(nanos -> nanos).sum(), latency.totalNanos());
  }

  @Test
  void timesOneIn128OfWhatIsQuickAndCountsAll() {
    var latency = new Latency();
    int timed = 0;
    for (int i = 0; i < 12_801; i++) {
      int weight = latency.begin();
      if (weight == 0) continue;
      timed++;
      latency.end(weight, 100);
    }
    assertEquals(12_801, latency.count());
    assertEquals(101, timed);
    assertEquals(12_801 * 100, latency.totalNanos());
  }

  @Test
  void timesEverythingAgainOnceItIsSlow() {
    var latency = new Latency();
    latency.end(latency.begin(), 100);
    int weight = latency.begin();
    assertEquals(128, weight);
    latency.end(weight, SLOW);
    assertEquals(1, latency.begin());
    assertEquals(1, latency.begin());
  }

  @Test
  void forgetsWhatIsOlderThanTwoMinutes() {
    var latency = new Latency();
    slow(latency, SLOW);
    assertEquals(SLOW, latency.quantilesNanos(0, 1)[0], SLOW / 8.0);
    slow(latency, 100 * SLOW);
    assertEquals(100 * SLOW, latency.quantilesNanos(59 * SECOND, 1)[0], 100 * SLOW / 8.0);
    assertEquals(100 * SLOW, latency.quantilesNanos(61 * SECOND, 1)[0], 100 * SLOW / 8.0);
    assertArrayEquals(new double[] {Double.NaN}, latency.quantilesNanos(122 * SECOND, 1));
  }

  @Test
  void takesAnyDuration() {
    var latency = new Latency();
    for (long nanos : new long[] {-1, 0, 1, 3, 4, Long.MAX_VALUE / 16}) latency.end(1, nanos);
    double[] ends = latency.quantilesNanos(0, 0, 1);
    assertEquals(0, ends[0]);
    assertTrue(ends[1] > 3e12, ends[1] + " ns");
  }
}
