package stoa.cluster;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;

/// Tells which members of groups have been level for a while, so that a leadership does not go to
/// and fro with a server that comes and goes. One owner, which has the clock.
final class SteadyMembers {
  /// How long a member must have been level at every look.
  static final Duration LEVEL_FOR = Duration.ofSeconds(10);

  /// How long no member of a group counts as steady after a transfer of the group's leadership.
  static final Duration BETWEEN_TRANSFERS = Duration.ofMinutes(1);

  // Since when each member of each group is level.
  private final Map<Integer, Map<String, Long>> levelNanos = new HashMap<>();

  private final Map<Integer, Long> transferNanos = new HashMap<>();

  /// Returns the steady ones among the members of a group that are level now.
  NavigableSet<String> among(int group, NavigableSet<String> level, long nanos) {
    Map<String, Long> since = levelNanos.computeIfAbsent(group, _ -> new HashMap<>());
    since.keySet().retainAll(level);
    var steady = new TreeSet<String>();
    Long transfer = transferNanos.get(group);
    boolean pauses = transfer != null && nanos - transfer < BETWEEN_TRANSFERS.toNanos();
    for (String member : level) {
      long began = since.computeIfAbsent(member, _ -> nanos);
      if (!pauses && nanos - began >= LEVEL_FOR.toNanos()) steady.add(member);
    }
    return steady;
  }

  /// Notes that a group is told to transfer its leadership.
  void transfers(int group, long nanos) {
    transferNanos.put(group, nanos);
  }
}
