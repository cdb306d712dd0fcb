package stoa.bench.cluster;

import java.io.IOException;
import java.util.List;
import stoa.bench.report.Context;

/// The time without answers when one of three servers of a store fails: in one group, where one
/// server leads all calls; and in three groups with one order, when the server that assigns all
/// addresses fails.
///
/// One thread uses it.
final class SilencePhase {
  static final String NAME = "silence";
  private static final String LEADER = "the leader ";
  private static final int GROUPS = 3;
  private static final String COORDINATOR = "3 groups: the coordinator ";
  private static final String FOLLOWER = "a follower ";

  /// The suffix of a failure's name.
  static final String KILLED = "killed (-9)";

  private final Context<ClusterScale> context;
  private final ClusterReport report;
  private final Neighbours neighbours;

  SilencePhase(Context<ClusterScale> context, ClusterReport report, Neighbours neighbours) {
    this.context = context;
    this.report = report;
    this.neighbours = neighbours;
  }

  /// Returns the name of the measure of the median caller's silence.
  static String middle(String failure) {
    return "%s of the middle caller: %s".formatted(NAME, failure);
  }

  /// Returns the name of the measure of the longest silence of any caller.
  static String longest(String failure) {
    return "%s of the unluckiest caller: %s".formatted(NAME, failure);
  }

  /// An operation on servers.
  private interface Action {
    void to(int server) throws IOException, InterruptedException;
  }

  /// A failure, and the operation that ends it.
  private record Failure(String name, boolean ofLeader, int times, Action begin, Action end) {}

  void measure(PhaseServers phases) throws Exception {
    measure(phases, 1);
    measure(phases, GROUPS);
  }

  private void measure(PhaseServers phases, int groups) throws Exception {
    // If phases share servers, one store of several groups is enough to show that they run.
    int kept = context.sizes().shared() ? GROUPS : groups;
    var shape = ClusterServers.Shape.of(kept, phases.canPart());
    phases.use("failures", shape, servers -> measure(servers, groups, phases.canPart()));
  }

  private void measure(ClusterServers.Running servers, int groups, boolean canPart)
      throws Exception {
    try (var callers = new Watched(servers.counters(), context.sizes().callers())) {
      callers.await(context.sizes().ready());
      neighbours.mark();
      for (Failure failure : failures(servers, groups, canPart)) {
        for (int time = 1; time <= failure.times; time++) {
          context
              .progress()
              .accept("failure %d of %d: %s".formatted(time, failure.times, failure.name));
          happen(servers, callers, failure);
        }
      }
      report.conditions("failures", neighbours.since());
      callers.verify();
    }
  }

  private List<Failure> failures(ClusterServers.Running servers, int groups, boolean canPart) {
    int kills = context.sizes().kills();
    int others = context.sizes().repeats();
    if (groups > 1) {
      return List.of(
          new Failure(COORDINATOR + KILLED, true, kills, servers::kill, servers::startAgain));
    }
    var killed = new Failure(LEADER + KILLED, true, kills, servers::kill, servers::startAgain);
    var paused =
        new Failure(LEADER + "paused (SIGSTOP)", true, others, servers::pause, servers::resume);
    var stopped =
        new Failure(LEADER + "stopped in order", true, others, servers::stop, servers::startAgain);
    var alone =
        new Failure(LEADER + "cut off from the servers", true, others, servers::cut, servers::heal);
    var lost = new Failure(FOLLOWER + KILLED, false, others, servers::kill, servers::startAgain);
    var slow =
        new Failure(FOLLOWER + "paused (SIGSTOP)", false, others, servers::pause, servers::resume);
    var all =
        canPart
            ? List.of(killed, paused, stopped, alone, lost, slow)
            : List.of(killed, paused, stopped, lost, slow);
    return all.subList(0, Math.min(all.size(), context.sizes().failures()));
  }

  private void happen(ClusterServers.Running servers, Watched callers, Failure failure)
      throws Exception {
    int leader = servers.leader();
    int server =
        failure.ofLeader
            ? leader
            : servers.running().stream().filter(other -> other != leader).findFirst().orElseThrow();
    callers.begin();
    failure.begin.to(server);
    callers.await(context.sizes().window());
    double[] silences = callers.silences();
    report.silence(failure.name);
    report.samples().add(middle(failure.name), silences[silences.length / 2]);
    report.samples().add(longest(failure.name), silences[silences.length - 1]);
    failure.end.to(server);
    callers.await(context.sizes().window());
    servers.settle();
  }
}
