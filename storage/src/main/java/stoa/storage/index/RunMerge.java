package stoa.storage.index;

import java.io.IOException;

/// Walks the entries of several runs in one order, of each offset the newest. One owner uses it.
final class RunMerge {
  // Newest first.
  private final RunScanner[] scanners;
  private final boolean[] live;
  private int current = -1;

  /// Creates a walk that begins with the first entry.
  ///
  /// @param runs newest first
  RunMerge(Run[] runs) throws IOException {
    scanners = new RunScanner[runs.length];
    live = new boolean[runs.length];
    for (int i = 0; i < runs.length; i++) {
      scanners[i] = new RunScanner(runs[i]);
      live[i] = scanners[i].next();
    }
  }

  LeafCursor entry() {
    return scanners[current].entry();
  }

  boolean next() throws IOException {
    if (current >= 0) live[current] = scanners[current].next();
    int least = -1;
    for (int i = 0; i < scanners.length; i++) {
      if (!live[i]) continue;
      int order = least < 0 ? -1 : compare(scanners[i].entry(), scanners[least].entry());
      if (order < 0) least = i;
      // Replaces an older entry at the same offset.
      if (order == 0) {
        live[i] = scanners[i].next();
        i--;
      }
    }
    current = least;
    return least >= 0;
  }

  private static int compare(LeafCursor a, LeafCursor b) {
    int bySeries = a.compareSeries(b.high, b.low, b.space);
    return bySeries != 0 ? bySeries : Long.compare(a.offset, b.offset);
  }
}
