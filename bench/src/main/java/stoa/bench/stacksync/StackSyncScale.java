package stoa.bench.stacksync;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import stoa.stacksync.Design;

/// The sizes of the benchmark of StackSync.
///
/// @param users how many users there are, each with a device and a workspace
/// @param items how many new items a commit has
/// @param chunks how many chunks an item has
/// @param callers the numbers of callers that commit at once
/// @param rounds how often each measure is taken; the median counts
/// @param compiling how long callers commit after each start of the servers before any measure: a
///   Java server first compiles its code
/// @param warmUp how long callers commit before it counts
/// @param time how long it counts
/// @param openPerSecond the rate of the open loop
/// @param openTime how long the open loop runs
/// @param script how many requests of the comparison of answers
/// @param allForms whether other products run in all their forms
/// @param clusters the clusters of servers, and the design on each
/// @param cached for how many objects a store has room in memory, in ascending order; none leaves
///   this part out
public record StackSyncScale(
    int users,
    int items,
    int chunks,
    List<Integer> callers,
    int rounds,
    Duration compiling,
    Duration warmUp,
    Duration time,
    int openPerSecond,
    Duration openTime,
    int script,
    boolean allForms,
    List<Shape> clusters,
    List<Integer> cached,
    int queued,
    int instances,
    int takersEach) {

  /// A cluster.
  ///
  /// @param replicas how many servers execute the calls of a group
  public record Shape(int servers, int replicas, Design design) {}

  /// Returns the clusters of 2 to 6 servers with 1 to 3 replicas; the other two designs, which say
  /// less about a cluster, on the smallest and the largest one.
  private static List<Shape> shapes() {
    var shapes = new ArrayList<Shape>();
    for (int replicas = 1; replicas <= 3; replicas++) {
      for (int servers = Math.max(2, replicas); servers <= 6; servers++) {
        shapes.add(new Shape(servers, replicas, Design.ITEMS_EMBEDDED));
      }
    }
    for (var design : List.of(Design.FACADE_ALONE, Design.EVERYTHING_SHARED)) {
      for (int replicas = 1; replicas <= 2; replicas++) {
        shapes.add(new Shape(2, replicas, design));
        shapes.add(new Shape(6, replicas, design));
      }
    }
    return shapes;
  }

  static StackSyncScale full() {
    return new StackSyncScale(
        4_000,
        20,
        2,
        List.of(1, 24, 240),
        3,
        Duration.ofSeconds(20),
        Duration.ofSeconds(2),
        Duration.ofSeconds(5),
        100,
        Duration.ofSeconds(20),
        400,
        true,
        shapes(),
        List.of(1_000, 10_000, 100_000),
        10_000,
        2,
        12);
  }

  static StackSyncScale smoke() {
    return new StackSyncScale(
        40,
        20,
        2,
        List.of(8),
        1,
        Duration.ofMillis(100),
        Duration.ofMillis(100),
        Duration.ofMillis(300),
        20,
        Duration.ofMillis(500),
        60,
        false,
        List.of(),
        List.of(100, 1_000),
        100,
        2,
        4);
  }
}
