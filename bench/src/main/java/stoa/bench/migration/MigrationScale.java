package stoa.bench.migration;

import java.time.Duration;
import java.util.List;

/// How long and how large the parts of the benchmark of migrating objects are.
///
/// @param rounds how often each measure is taken; the median counts
/// @param heat how long a load runs before the first round, so that Java compiles everything
/// @param warmUp how long a load runs before it counts
/// @param time how long a load of trivial operations counts
/// @param workTime how long a load of operations that compute counts
/// @param trafficRounds how often the benchmark measures loads whose updates wait as long as LIBSVM
///   took
/// @param stretch how much longer than LIBSVM took clients wait in its place, see [TrafficPhase]
/// @param placementRounds how often placements are compared; the median of each round's ratio
///   counts
/// @param placementHeat how long each load of these runs before the first round, so that Java
///   compiles everything
/// @param settle how long callers call objects placed by cost before it counts
/// @param settledTime how long it counts then
/// @param leaveWarmUp how long nodes call before the next load counts
/// @param leaveBlocks when nodes leave, in a load of one object
/// @param simulated how often leaves are simulated
/// @param nodes how many nodes a tree has, besides its root
/// @param objects how many objects there are
/// @param together how many objects an operation has
/// @param training how many updates LIBSVM makes, to measure their time
/// @param computeMillis how long methods of the sweep over placements compute
/// @param stateBytes how large the states of that sweep are
/// @param processes how many client processes there are, where each node is one; none leaves this
///   out
/// @param processHeat how long they call for each of them before the first round, so that Java
///   compiles everything
/// @param processWarmUp how long they call before it counts
/// @param processTime how long it counts
/// @param remoteSettle as `settle`, over the network
/// @param remoteTime how long it counts
public record MigrationScale(
    int rounds,
    Duration heat,
    Duration warmUp,
    Duration time,
    Duration workTime,
    int trafficRounds,
    int stretch,
    int placementRounds,
    Duration placementHeat,
    Duration settle,
    Duration settledTime,
    Duration leaveWarmUp,
    Blocks leaveBlocks,
    int simulated,
    List<Integer> nodes,
    List<Integer> objects,
    List<Integer> together,
    int training,
    List<Integer> computeMillis,
    List<Integer> stateBytes,
    List<Integer> processes,
    Duration processHeat,
    Duration processWarmUp,
    Duration processTime,
    Duration remoteSettle,
    Duration remoteTime) {
  /// The scale whose results are kept: about two hours.
  public static MigrationScale full() {
    return new MigrationScale(
        5,
        Duration.ofSeconds(10),
        Duration.ofMillis(200),
        Duration.ofMillis(400),
        Duration.ofSeconds(3),
        5,
        8,
        5,
        Duration.ofMillis(1_500),
        Duration.ofSeconds(3),
        Duration.ofMillis(1_500),
        Duration.ofMillis(500),
        new Blocks(9, Duration.ofMillis(700)),
        5,
        List.of(10, 20, 30, 40, 50, 60, 70),
        List.of(1, 2, 3, 4, 5, 30, 40, 50),
        List.of(1, 2, 3, 4, 5),
        60,
        List.of(0, 1),
        List.of(100, 100_000),
        List.of(4, 6),
        Duration.ofSeconds(7),
        Duration.ofMillis(300),
        Duration.ofMillis(1_700),
        Duration.ofMillis(2_200),
        Duration.ofMillis(2_500));
  }

  /// The scale that shows that it runs.
  public static MigrationScale smoke() {
    return new MigrationScale(
        1,
        Duration.ofMillis(50),
        Duration.ofMillis(20),
        Duration.ofMillis(50),
        Duration.ofMillis(150),
        1,
        2,
        1,
        Duration.ofMillis(20),
        Duration.ofMillis(20),
        Duration.ofMillis(50),
        Duration.ofMillis(20),
        new Blocks(1, Duration.ofMillis(50)),
        1,
        List.of(10, 20),
        List.of(1, 50),
        List.of(1, 3),
        2,
        List.of(0, 5),
        List.of(100),
        List.of(),
        Duration.ofMillis(100),
        Duration.ofMillis(20),
        Duration.ofMillis(100),
        Duration.ofMillis(20),
        Duration.ofMillis(50));
  }

  int nodesMost() {
    return nodes.getLast();
  }

  int objectsMost() {
    return objects.getLast();
  }
}
