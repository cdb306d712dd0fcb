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
      RecordedRun.run(
          cluster.url(), progress -> happen(cluster, progress, chance, trace), chance, trace);
    } finally {
      Directories.delete(directory);
    }
  }

  private void happen(Cluster cluster, CallerProgress progress, Chance chance, Trace trace)
      throws Exception {
    var order = chance.percent(50) ? List.of(Change.values()) : List.of(Change.values()).reversed();
    for (Change change : order) {
      switch (change) {
        case RESTARTS ->
            restarts(
                cluster, progress, chance, trace, "a server started again in its turn", between);
        case GROWTH_AND_BACK -> growth(cluster, progress, chance, trace);
      }
    }
    progress.await(between);
  }

  /// Restarts all servers, one after the other.
  ///
  /// @param as the name of each restart in the trace
  /// @param between the most turns of clients between two
  static void restarts(
      Cluster cluster, CallerProgress progress, Chance chance, Trace trace, String as, int between)
      throws Exception {
    for (int which : cluster.running()) {
      progress.await(chance.between(between / 2, between));
      cluster.requireAlive();
      var _ = progress.longestSilence();
      cluster.stop(which);
      cluster.startAgain(which);
      measure(progress, trace, as, between);
    }
  }

  private void growth(Cluster cluster, CallerProgress progress, Chance chance, Trace trace)
      throws Exception {
    for (int i = 0; i < MORE; i++) {
      progress.await(chance.between(between / 2, between));
      var _ = progress.longestSilence();
      var _ = cluster.add();
      measure(progress, trace, "a server joined", between);
    }
    for (int i = 0; i < MORE; i++) {
      progress.await(chance.between(between / 2, between));
      int leader = cluster.leader();
      boolean leads = chance.percent(50);
      var _ = progress.longestSilence();
      cluster.drain(leads ? leader : chance.of(cluster.followers(leader)));
      measure(progress, trace, (leads ? "the leader" : "a follower") + " taken out", between);
    }
  }

  private static void measure(CallerProgress progress, Trace trace, String change, int between)
      throws InterruptedException {
    progress.await(between / 2);
    trace.reached(change);
    trace.measured("ms without an answer: " + change, progress.longestSilence().toMillis());
  }
}
