package stoa.bench.migration;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Time in blocks of four quarters: in the middle two something goes on whose cost is measured, in
/// the other two it does not. What else changes from block to block, or steadily within one,
/// changes both alike.
///
/// @param count how many blocks there are; with none it goes on all the time
/// @param quarter how long a quarter of a block is
public record Blocks(int count, Duration quarter) {
  /// None.
  static final Blocks NONE = new Blocks(0, Duration.ZERO);

  private static final int QUARTERS = 4;

  /// How long all of them take.
  Duration time() {
    return quarter.multipliedBy((long) QUARTERS * count);
  }

  /// Returns whether it goes on.
  ///
  /// @param nanos since the first block began; negative before
  boolean isOn(long nanos) {
    return count == 0 || (nanos >= 0 && isOn(number(nanos)));
  }

  private int number(long nanos) {
    return Math.min((int) (nanos / quarter.toNanos()), QUARTERS * count - 1);
  }

  private static boolean isOn(int number) {
    return number % QUARTERS == 1 || number % QUARTERS == 2;
  }

  /// What was counted in one block.
  ///
  /// @param off while it did not go on
  /// @param on while it did
  record Block(Rates off, Rates on) {}

  /// Operations per second of the time that nodes were in the tree.
  record Rates(double updates, double reads) {}

  /// What is counted in each quarter, and how long nodes were away. One thread uses it.
  final class Counts {
    private final long[] updates = new long[QUARTERS * count];
    private final long[] reads = new long[QUARTERS * count];
    private final long[] awayNanos = new long[QUARTERS * count];

    /// Counts an update that ended.
    void update(long nanos) {
      if (count > 0) updates[number(nanos)]++;
    }

    /// Counts a read that ended.
    void read(long nanos) {
      if (count > 0) reads[number(nanos)]++;
    }

    /// Notes that a node was away.
    void away(long fromNanos, long toNanos) {
      for (int i = 0; i < awayNanos.length; i++) {
        long begin = Math.max(fromNanos, i * quarter.toNanos());
        long end = Math.min(toNanos, (i + 1) * quarter.toNanos());
        awayNanos[i] += Math.max(0, end - begin);
      }
    }

    /// Adds what another one has counted.
    void add(Counts other) {
      for (int i = 0; i < updates.length; i++) {
        updates[i] += other.updates[i];
        reads[i] += other.reads[i];
        awayNanos[i] += other.awayNanos[i];
      }
    }

    /// What was counted in each block.
    ///
    /// @param nodes how many have counted
    List<Block> blocks(int nodes) {
      List<Block> all = new ArrayList<>();
      for (int first = 0; first < updates.length; first += QUARTERS) {
        all.add(new Block(rates(first, false, nodes), rates(first, true, nodes)));
      }
      return all;
    }

    private Rates rates(int first, boolean on, int nodes) {
      long updated = 0;
      long read = 0;
      double nanos = 0;
      for (int i = first; i < first + QUARTERS; i++) {
        if (isOn(i) != on) continue;
        updated += updates[i];
        read += reads[i];
        nanos += quarter.toNanos() - (double) awayNanos[i] / nodes;
      }
      return new Rates(1e9 * updated / nanos, 1e9 * read / nanos);
    }
  }
}
