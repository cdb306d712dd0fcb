package stoa.bench.load;

import java.util.Arrays;
import java.util.SplittableRandom;

/// A random choice among keys: all equally often, or the first ones most often, by Zipf's law.
/// Immutable.
public final class Zipf {
  // The exponent that YCSB uses.
  private static final double EXPONENT = 0.99;

  // The cumulative share of the keys up to an index.
  private final double[] upTo;

  private Zipf(double[] upTo) {
    this.upTo = upTo;
  }

  /// Returns a uniform choice.
  public static Zipf uniform(int keys) {
    return of(keys, 0);
  }

  /// Returns a choice in which the key at index i has a weight of 1/(i+1) to a power near 1.
  public static Zipf skewed(int keys) {
    return of(keys, EXPONENT);
  }

  private static Zipf of(int keys, double exponent) {
    double[] upTo = new double[keys];
    double sum = 0;
    for (int i = 0; i < keys; i++) {
      sum += Math.pow(i + 1.0, -exponent);
      upTo[i] = sum;
    }
    for (int i = 0; i < keys; i++) upTo[i] /= sum;
    return new Zipf(upTo);
  }

  /// Returns the next key, from 0.
  public int next(SplittableRandom random) {
    int at = Arrays.binarySearch(upTo, random.nextDouble());
    return Math.min(at < 0 ? -at - 1 : at, upTo.length - 1);
  }
}
