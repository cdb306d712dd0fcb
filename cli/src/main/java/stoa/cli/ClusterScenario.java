package stoa.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import stoa.sim.Chance;
import stoa.sim.Scenario;
import stoa.sim.Trace;

/// Clients with several threads each call the objects of three servers that keep one store, while
/// one server after the other is killed and started again, or stopped and continued. Calls go on
/// meanwhile. What they were answered must be linearizable for each object, and strictly
/// serializable over several.
///
/// `./stoa test --campaign --scenario cluster --seeds 0-99`. The seed decides what is called, and
/// what happens to which server, counted in turns; threads and elections decide the rest, so that a
/// failure may need several runs of its seed to come back.
public final class ClusterScenario implements Scenario {
  private static final int SERVERS = 3;

  private final int faults;
  private final int between;

  /// For [java.util.ServiceLoader].
  public ClusterScenario() {
    this(6, 110);
  }

  /// @param faults how often something happens to a server
  /// @param between how many turns clients take before and after at most
  ClusterScenario(int faults, int between) {
    this.faults = faults;
    this.between = between;
  }

  @Override
  public String name() {
    return "cluster";
  }

  @Override
  public Duration timeMax() {
    return Duration.ofMinutes(5);
  }

  @Override
  public void run(Chance chance, Trace trace) throws Exception {
    Path directory = Files.createTempDirectory("cluster-history");
    try {
      run(directory, chance, trace);
    } finally {
      Directories.delete(directory);
    }
  }

  private void run(Path directory, Chance chance, Trace trace) throws Exception {
    var servers = new ArrayList<ServerProcess>();
    try {
      for (int i = 0; i < SERVERS; i++) servers.add(start(directory, i, servers));
      Settled.await(servers.getFirst().address());
      String url =
          servers.stream()
              .map(ServerProcess::address)
              .collect(Collectors.joining(",", "stoa://", ""));
      RecordedRun.run(url, turns -> happen(servers, turns, chance, trace), chance, trace);
    } finally {
      servers.forEach(ServerProcess::close);
    }
  }

  private void happen(List<ServerProcess> servers, Turns turns, Chance chance, Trace trace)
      throws Exception {
    for (int i = 0; i < faults; i++) {
      turns.await(chance.between(between / 2, between));
      int which = chance.below(SERVERS);
      if (chance.percent(60)) {
        servers.get(which).kill();
        trace.reached("a server killed");
        turns.await(chance.between(between / 2, between)); // calls go on without it
        servers.set(which, servers.get(which).startAgain());
      } else {
        servers.get(which).pause();
        trace.reached("a server stopped");
        turns.await(chance.between(between / 2, between));
        servers.get(which).resume();
      }
    }
    turns.await(between);
  }

  private static ServerProcess start(Path directory, int index, List<ServerProcess> before)
      throws Exception {
    var options = new ArrayList<>(List.of("--name", "s" + (index + 1)));
    if (before.isEmpty()) options.add("--replicated");
    else options.addAll(List.of("--join", before.getFirst().address()));
    return ServerProcess.start(directory.resolve("s" + (index + 1)), options);
  }
}
