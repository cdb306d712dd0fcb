package stoa.base;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class DurationsTest {
  private static void record(Latency latency, int count, long nanos) {
    for (int i = 0; i < count; i++) latency.end(Math.max(1, latency.begin()), nanos);
  }

  private static Durations of(Latency... all) {
    var durations = new Durations();
    for (Latency one : all) durations.add(one);
    return durations;
  }

  private static void isAbout(double expected, double found) {
    assertTrue(Math.abs(found - expected) <= expected / 8, found + " is not about " + expected);
  }

  @Test
  void tellsTheQuantilesOfSeveralLatenciesSinceAMoment() {
    var one = new Latency();
    var other = new Latency();
    record(one, 500, 1_000_000_000);
    Durations before = of(one, other);
    record(one, 90, 1_000_000);
    record(other, 10, 50_000_000);
    Durations now = of(one, other);
    isAbout(1_000_000, now.quantileNanos(before, 0.5));
    isAbout(50_000_000, now.quantileNanos(before, 0.99));
    isAbout(1_000_000_000, now.quantileNanos(new Durations(), 0.5));
  }

  @Test
  void tellsNothingWhereNothingHasEnded() {
    var latency = new Latency();
    record(latency, 3, 1_000_000);
    assertEquals(Double.NaN, of(latency).quantileNanos(of(latency), 0.5));
    // A latency that begins again counts as new.
    assertEquals(Double.NaN, of(new Latency()).quantileNanos(of(latency), 0.5));
  }
}
