package stoa.bench.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import org.junit.jupiter.api.Test;

class SamplesTest {
  @Test
  void answersTheMiddleOfTheSamples() {
    var samples = new Samples();
    for (double value : new double[] {9, 1, 5}) samples.add("odd", value);
    for (double value : new double[] {9, 1, 5, 3}) samples.add("even", value);
    assertEquals(5, samples.median("odd"));
    assertEquals(4, samples.median("even"));
    assertThrows(IllegalArgumentException.class, () -> samples.median("never"));
  }

  @Test
  void comparesTheSamplesOfEachRound() {
    var samples = new Samples();
    for (double value : new double[] {2, 40, 600}) samples.add("a", value);
    for (double value : new double[] {1, 10, 100}) samples.add("b", value);
    samples.add("short", 1);
    assertEquals(4, samples.medianRatio("a", "b"));
    assertEquals(2, samples.leastRatio("a", "b"));
    assertThrows(IllegalArgumentException.class, () -> samples.medianRatio("a", "short"));
  }

  @Test
  void takesEveryMeasureInEachRound() throws Exception {
    var order = new ArrayList<String>();
    var probes = new LinkedHashMap<String, Samples.Probe>();
    probes.put("a", samples -> order.add("a"));
    probes.put("b", samples -> order.add("b"));
    var told = new ArrayList<String>();
    Samples.interleaved(2, probes, told::add);
    assertEquals(List.of("a", "b", "a", "b"), order);
    assertEquals(List.of("round 1 of 2: a", "round 1 of 2: b"), told.subList(0, 2));
  }

  @Test
  void saysBetweenWhichValuesTheMedianIs() {
    List<Double> few = List.of(3.0, 1.0, 2.0);
    assertEquals(new Samples.Within(1, 3), Samples.within(few));
    // That 15 or more of 20 are on the same side of it has a probability of 0.04.
    List<Double> many = new ArrayList<>();
    for (int i = 1; i <= 20; i++) many.add((double) i);
    assertEquals(new Samples.Within(5, 16), Samples.within(many));
  }
}
