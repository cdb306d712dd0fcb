package stoa.bench.migration;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Time in blocks of four quarters: an activity whose cost is measured runs in the middle two, and
/// rests in the other two. Any other change from block to block, or steadily within one, affects
/// both alike.
///
/// @param count the number of blocks; with none the activity runs all the time
/// @param quarter the length of a quarter of a block
public record Blocks(int count, Duration quarter) {
  /// No blocks.
  static final Blocks NONE = new Blocks(0, Duration.ZERO);

  private static final int QUARTERS = 4;

  /// Returns the length of all of them.
  Duration time() {
    return quarter.multipliedBy((long) QUARTERS * count);
  }

  /// Returns whether the activity runs.
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

  /// The counts of one block.
  ///
  /// @param off without the activity
  /// @param on with the activity
  record Block(Rates off, Rates on) {}

  /// Operations per second of the time that nodes were in the tree.
  record Rates(double updates, double reads) {}

  /// The counts of each quarter, and the times that nodes were away. One thread uses it.
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

    /// Adds the counts of another one.
    void add(Counts other) {
      for (int i = 0; i < updates.length; i++) {
        updates[i] += other.updates[i];
        reads[i] += other.reads[i];
        awayNanos[i] += other.awayNanos[i];
      }
    }

    /// Returns the counts of each block.
    ///
    /// @param nodes the number of nodes that have counted
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
