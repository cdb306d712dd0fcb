package stoa.bench.storage;

import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntToLongFunction;

/// The order and the offsets of concurrent accesses to an object: the two workloads of the VOSD
/// paper, section IV.
public enum Pattern {
  /// One after the other from the front, at multiples of the size.
  LINEAR_ALIGNED("linear aligned"),

  /// Anywhere, at odd offsets.
  RANDOM_UNALIGNED("random unaligned");

  private final String text;

  Pattern(String text) {
    this.text = text;
  }

  /// Returns offsets for callers: for a caller's number, the function returns its next offset. At
  /// least `size` bytes of the region follow each. Thread-safe as long as each caller has a number
  /// of its own.
  IntToLongFunction offsets(int callers, int size, long region) {
    return switch (this) {
      case LINEAR_ALIGNED -> {
        var next = new AtomicLong();
        long turns = region / size;
        yield _ -> next.getAndIncrement() % turns * size;
      }
      case RANDOM_UNALIGNED -> {
        var randoms = new SplittableRandom[callers];
        for (int i = 0; i < callers; i++) randoms[i] = new SplittableRandom(7919L * i + size);
        yield caller -> (randoms[caller].nextLong(region - size) | 1);
      }
    };
  }

  @Override
  public String toString() {
    return text;
  }
}
