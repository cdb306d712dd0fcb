package stoa.bench.cluster;

import java.time.Duration;

/// How long the parts of the cluster benchmark are.
///
/// @param rounds how often each measure is taken; the median counts
/// @param shared whether phases use the servers of earlier phases if these fit; otherwise each has
///   servers of its own
/// @param servers how many servers each contender of the calls has
/// @param callers how many callers call while servers fail, come and go
/// @param returns whether the phase of log units goes on until the server that was away leads
///   again, which takes more than ten seconds
/// @param heat how long each load runs once before the first round; zero if it does not run then
/// @param ready how long callers call before a failure: for as long as Java compiles their code
/// @param warmUp how long a load runs before it counts
/// @param time how long a load counts
/// @param records how many records YCSB has
/// @param failures how many kinds of failures there are, at most
/// @param repeats how often each happens
/// @param kills how often a leader is killed, and how often a coordinator
/// @param window how long the benchmark observes callers around a failure
/// @param keptBytes how much a store has when a server joins
/// @param groups the most groups of the simulated cluster, a power of two
public record ClusterScale(
    int rounds,
    boolean shared,
    int servers,
    int callers,
    boolean returns,
    Duration heat,
    Duration ready,
    Duration warmUp,
    Duration time,
    int records,
    int failures,
    int repeats,
    int kills,
    Duration window,
    long keptBytes,
    int groups) {
  /// The scale whose results are kept: about half an hour.
  public static ClusterScale full() {
    return new ClusterScale(
        5,
        false,
        ClusterServers.SERVERS,
        24,
        true,
        Duration.ofSeconds(9),
        Duration.ofSeconds(30),
        Duration.ofMillis(300),
        Duration.ofMillis(1000),
        10_000,
        6,
        3,
        20,
        Duration.ofMillis(2500),
        32 << 20,
        64);
  }

  /// The scale that shows that it runs.
  public static ClusterScale smoke() {
    return new ClusterScale(
        1,
        true,
        2,
        4,
        false,
        Duration.ZERO,
        Duration.ofMillis(100),
        Duration.ZERO,
        Duration.ofMillis(50),
        200,
        2,
        1,
        1,
        Duration.ofMillis(300),
        1 << 20,
        4);
  }
}
