package stoa.cluster;

import stoa.Limits;
import stoa.StoaConfig;
import stoa.storage.disk.DeviceConfig;

/// How the groups of a server share its memory. A server may lead all groups: it begins a new store
/// alone, and others may fail.
final class GroupMemory {
  // As many groups keep as many states in memory as each would alone, an eighth of the heap. More
  // groups share what these may have.
  private static final int FULL_SHARES = 4;

  // The devices of all groups may take 3 / 8 of the heap. States take 4 / 8, and everything else
  // has the rest.
  private static final long DEVICES = 3;

  private static final long EIGHTHS = 8;

  // Earlier versions had up to so many groups, whatever the memory.
  private static final int UNCHECKED_MAX = 8;

  private GroupMemory() {}

  /// Returns the configuration of each group of a server.
  ///
  /// @param whole the configuration of a store that has the memory alone
  static StoaConfig share(StoaConfig whole, int groups) {
    if (groups <= FULL_SHARES) return whole;
    Limits limits = whole.limits();
    long states = limits.residentBytesMax() / groups * FULL_SHARES;
    return whole.withLimits(limits.withResidentBytesMax(Math.max(1, states)));
  }

  /// Refuses more groups than fit.
  ///
  /// @param heapBytes the most memory of this process
  /// @throws IllegalArgumentException when they do not fit
  static void require(int groups, long heapBytes) {
    long fit = Math.max(UNCHECKED_MAX, heapBytes / EIGHTHS * DEVICES / deviceBytes());
    if (groups <= fit) return;
    throw new IllegalArgumentException(
        groups
            + " groups need a heap of "
            + Math.ceilDiv(groups * deviceBytes() * EIGHTHS, DEVICES << 20)
            + " MiB, and that of this process has "
            + (heapBytes >> 20)
            + "; give it more with -Xmx, or begin with up to "
            + fit
            + " groups");
  }

  /// Returns the heap that the index of a device takes at most.
  private static long deviceBytes() {
    DeviceConfig config = DeviceConfig.standard();
    return 3L * config.memtableBytesMax() + config.cacheBytesMax();
  }
}
