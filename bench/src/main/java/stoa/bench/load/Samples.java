package stoa.bench.load;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/// The samples of several measures, taken in turn.
///
/// One thread uses it. The measures are interleaved, all of them in each round, so that a change of
/// the machine's speed affects a measure and its limit alike.
public final class Samples {
  /// Takes one sample of one or more measures.
  @FunctionalInterface
  public interface Probe {
    void sample(Samples samples) throws Exception;
  }

  private final Map<String, List<Double>> samples = new LinkedHashMap<>();

  /// Runs every probe once per round.
  public static Samples interleaved(
      int rounds, Map<String, Probe> probes, Consumer<String> progress) throws Exception {
    var samples = new Samples();
    for (int round = 1; round <= rounds; round++) {
      for (var probe : probes.entrySet()) {
        progress.accept("round %d of %d: %s".formatted(round, rounds, probe.getKey()));
        probe.getValue().sample(samples);
      }
    }
    return samples;
  }

  /// Adds a sample.
  public void add(String measure, double value) {
    samples.computeIfAbsent(measure, m -> new ArrayList<>()).add(value);
  }

  /// Adds the rate and the latencies of a load.
  public void add(String measure, Load.Seen seen) {
    add(measure, seen.callsPerSecond());
    add(measure + ", p50", seen.p50Micros());
    add(measure + ", p99", seen.p99Micros());
  }

  /// Returns the measures, in the order of their first samples.
  public List<String> measures() {
    return List.copyOf(samples.keySet());
  }

  /// Returns whether a measure has a sample.
  public boolean has(String measure) {
    return samples.containsKey(measure);
  }

  /// Returns a measure's samples, in order.
  public List<Double> of(String measure) {
    List<Double> taken = samples.get(measure);
    if (taken == null) throw new IllegalArgumentException("nothing was measured as " + measure);
    return List.copyOf(taken);
  }

  /// Returns the median of a measure's samples.
  public double median(String measure) {
    return median(of(measure));
  }

  /// Returns the median of the ratios of two measures' samples, each taken within one round: it
  /// excludes slowdowns of whole rounds.
  public double medianRatio(String measure, String beside) {
    return median(ratios(measure, beside));
  }

  /// Returns the least of the ratios of two measures' samples, each taken within one round.
  public double leastRatio(String measure, String beside) {
    return Collections.min(ratios(measure, beside));
  }

  private List<Double> ratios(String measure, String beside) {
    List<Double> upper = of(measure);
    List<Double> lower = of(beside);
    if (upper.size() != lower.size()) {
      throw new IllegalArgumentException(
          "%s has %d samples, %s has %d".formatted(measure, upper.size(), beside, lower.size()));
    }
    var ratios = new ArrayList<Double>();
    for (int i = 0; i < upper.size(); i++) ratios.add(upper.get(i) / lower.get(i));
    return ratios;
  }

  /// Returns the middle one of some values, or the mean of the two in the middle.
  public static double median(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /// Returns the interval that contains the true median of a measure in 95 of 100 cases: for few
  /// samples, from the least to the greatest one.
  ///
  /// @param values independent samples
  public static Within within(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    int size = sorted.size();
    int outside = Math.max(0, (int) Math.floor(size / 2.0 - 0.98 * Math.sqrt(size)) - 1);
    return new Within(sorted.get(outside), sorted.get(size - 1 - outside));
  }

  /// The ends of an interval.
  public record Within(double least, double most) {}
}
