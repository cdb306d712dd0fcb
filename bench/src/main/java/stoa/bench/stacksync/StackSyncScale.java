package stoa.bench.stacksync;

import java.time.Duration;
import java.util.List;

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
/// @param clusters the clusters of servers
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
    List<Shape> clusters) {

  /// A cluster.
  ///
  /// @param replicas how many servers execute the calls of a group
  public record Shape(int servers, int replicas) {}

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
        List.of(
            new Shape(2, 1),
            new Shape(4, 1),
            new Shape(6, 1),
            new Shape(2, 2),
            new Shape(6, 2),
            new Shape(3, 3)));
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
        List.of());
  }
}
