package stoa.sim;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;
import stoa.base.StreamId;

/// Seeded random choices. Equal seeds give equal choices in every JVM.
///
/// One owner. A part of a simulation takes a stream of its own with [#of], so that a further choice
/// in one part changes nothing in another.
public final class Chance {
  private final long seed;
  private final SplittableRandom random;

  /// Creates the choices of a seed.
  public Chance(long seed) {
    this.seed = seed;
    this.random = new SplittableRandom(seed);
  }

  /// Returns the choices of a part, a function of this one's seed and the part's name alone.
  public Chance of(String part) {
    byte[] name = (seed + "/" + part).getBytes(StandardCharsets.UTF_8);
    return new Chance(StreamId.of(name).low());
  }

  /// Returns a number from 0 to `bound`, the bound excluded.
  public int below(int bound) {
    return random.nextInt(bound);
  }

  /// Returns a number from `from` to `to`, both included.
  public int between(int from, int to) {
    return random.nextInt(from, to + 1);
  }

  /// Returns true in `percent` of a hundred cases.
  public boolean percent(int percent) {
    return random.nextInt(100) < percent;
  }

  /// Returns one of the elements.
  public <T> T of(List<T> elements) {
    return elements.get(random.nextInt(elements.size()));
  }

  /// Returns any number.
  public long any() {
    return random.nextLong();
  }
}
