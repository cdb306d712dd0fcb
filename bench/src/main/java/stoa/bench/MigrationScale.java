package stoa.bench;

import java.time.Duration;
import java.util.List;

/// How long and how large the parts of the benchmark of migrating objects are.
///
/// @param rounds how often each measure is taken; the median counts
/// @param heat how long a load runs before the first round, to have everything compiled
/// @param warmUp how long a load runs before it counts
/// @param time how long a load of trivial operations counts
/// @param workTime how long a load of operations that compute counts
/// @param stretch how much longer than LIBSVM took clients wait in its place, see [TrafficPhase]
/// @param settle how long objects are called before placements are compared
/// @param leaveWarmUp how long nodes call before the load counts that is next
/// @param leaveTime how long a load counts beside which members leave and come back
/// @param simulated how often leaves are simulated
/// @param simulatedTime how much time that is each time
/// @param nodes how many nodes a tree has, besides its root
/// @param objects how many objects there are
/// @param together how many objects an operation has
/// @param training how many updates are made by LIBSVM, to know how long they take
/// @param computeMillis how long methods of the sweep over placements compute
/// @param stateBytes how large the states of that sweep are
/// @param processes how many client processes there are, where each node is one; none leaves this
///   out
/// @param processWarmUp how long they call before it counts
/// @param processTime how long it counts
public record MigrationScale(
    int rounds,
    Duration heat,
    Duration warmUp,
    Duration time,
    Duration workTime,
    int stretch,
    Duration settle,
    Duration leaveWarmUp,
    Duration leaveTime,
    int simulated,
    Duration simulatedTime,
    List<Integer> nodes,
    List<Integer> objects,
    List<Integer> together,
    int training,
    List<Integer> computeMillis,
    List<Integer> stateBytes,
    List<Integer> processes,
    Duration processWarmUp,
    Duration processTime) {
  /// The scale whose results are kept: about 28 minutes.
  public static MigrationScale full() {
    return new MigrationScale(
        2,
        Duration.ofSeconds(10),
        Duration.ofMillis(200),
        Duration.ofMillis(400),
        Duration.ofSeconds(3),
        8,
        Duration.ofSeconds(5),
        Duration.ofMillis(500),
        Duration.ofSeconds(4),
        7,
        Duration.ofSeconds(10),
        List.of(10, 20, 30, 40, 50, 60, 70),
        List.of(1, 2, 3, 4, 5, 30, 40, 50),
        List.of(1, 2, 3, 4, 5),
        60,
        List.of(0, 1, 10),
        List.of(100, 100_000),
        List.of(2, 4),
        Duration.ofSeconds(3),
        Duration.ofSeconds(4));
  }

  /// The scale that shows that it runs.
  public static MigrationScale smoke() {
    return new MigrationScale(
        1,
        Duration.ofMillis(50),
        Duration.ofMillis(20),
        Duration.ofMillis(50),
        Duration.ofMillis(150),
        2,
        Duration.ofMillis(20),
        Duration.ofMillis(20),
        Duration.ofMillis(60),
        1,
        Duration.ofMillis(200),
        List.of(10, 20),
        List.of(1, 50),
        List.of(1, 3),
        2,
        List.of(0, 5),
        List.of(100),
        List.of(),
        Duration.ofMillis(200),
        Duration.ofMillis(300));
  }

  int nodesMost() {
    return nodes.getLast();
  }

  int objectsMost() {
    return objects.getLast();
  }
}
