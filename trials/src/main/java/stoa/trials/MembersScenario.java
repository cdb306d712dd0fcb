package stoa.trials;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import stoa.programs.Directories;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.scenario.Scenario;

/// Clients with several threads each call the objects of three servers that keep one store, while
/// all servers restart one after the other, while two more join, and while two leave, perhaps the
/// leader. Calls go on, and all answers must be consistent.
///
/// `./stoa test --campaign --scenario cluster-members --seeds 0-19`. The seed determines the order,
/// and the leaving servers.
public final class MembersScenario implements Scenario {
  private static final int SERVERS = 3;
  private static final int MORE = 2;

  private enum Change {
    RESTARTS,
    GROWTH_AND_BACK
  }

  private final int between;

  /// Creates the scenario for [java.util.ServiceLoader].
  public MembersScenario() {
    this(80);
  }

  /// @param between the most turns of clients between two changes
  MembersScenario(int between) {
    this.between = between;
  }

  @Override
  public String name() {
    return "cluster-members";
  }

  @Override
  public Duration timeMax() {
    return Duration.ofMinutes(10);
  }

  @Override
  public void run(Chance chance, Trace trace) throws Exception {
    Path directory = Files.createTempDirectory("cluster-history");
    try (var cluster = Cluster.start(directory, SERVERS)) {
      RecordedRun.run(cluster.url(), turns -> happen(cluster, turns, chance, trace), chance, trace);
    } finally {
      Directories.delete(directory);
    }
  }

  private void happen(Cluster cluster, Turns turns, Chance chance, Trace trace) throws Exception {
    var order = chance.percent(50) ? List.of(Change.values()) : List.of(Change.values()).reversed();
    for (Change change : order) {
      switch (change) {
        case RESTARTS ->
            restarts(cluster, turns, chance, trace, "a server started again in its turn", between);
        case GROWTH_AND_BACK -> growth(cluster, turns, chance, trace);
      }
    }
    turns.await(between);
  }

  /// Restarts all servers, one after the other.
  ///
  /// @param as the name of each restart in the trace
  /// @param between the most turns of clients between two
  static void restarts(
      Cluster cluster, Turns turns, Chance chance, Trace trace, String as, int between)
      throws Exception {
    for (int which : cluster.running()) {
      turns.await(chance.between(between / 2, between));
      cluster.requireAlive();
      var _ = turns.longestSilence();
      cluster.stop(which);
      cluster.startAgain(which);
      measure(turns, trace, as, between);
    }
  }

  private void growth(Cluster cluster, Turns turns, Chance chance, Trace trace) throws Exception {
    for (int i = 0; i < MORE; i++) {
      turns.await(chance.between(between / 2, between));
      var _ = turns.longestSilence();
      var _ = cluster.add();
      measure(turns, trace, "a server joined", between);
    }
    for (int i = 0; i < MORE; i++) {
      turns.await(chance.between(between / 2, between));
      int leader = cluster.leader();
      boolean leads = chance.percent(50);
      var _ = turns.longestSilence();
      cluster.drain(leads ? leader : chance.of(cluster.followers(leader)));
      measure(turns, trace, (leads ? "the leader" : "a follower") + " taken out", between);
    }
  }

  private static void measure(Turns turns, Trace trace, String change, int between)
      throws InterruptedException {
    turns.await(between / 2);
    trace.reached(change);
    trace.measured("ms without an answer: " + change, turns.longestSilence().toMillis());
  }
}
