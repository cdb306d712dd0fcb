package stoa.trials;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import stoa.cli.Operator;
import stoa.programs.Directories;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.scenario.Scenario;
import stoa.wire.proto.MemberStatus;
import stoa.wire.proto.QuarantineStatus;
import stoa.wire.proto.ServerStatus;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;

/// Clients with several threads each call the objects of three servers that keep one store, in one
/// group or in several, while one server after the other is killed or stopped and restarted, or
/// paused and resumed. Calls go on meanwhile. Their answers must be linearizable for each object
/// and blob, and strictly serializable over several; the following servers must find all objects
/// and keys as they are at the leader; named snapshots must never change; and at the end all
/// servers must have the same blobs.
///
/// `./stoa test --campaign --scenario cluster --seeds 0-99`. The seed determines the calls, and the
/// failure of each server, counted in turns; threads and elections determine the rest, so that it
/// may take several runs of a seed to repeat a failure.
public final class ClusterScenario implements Scenario {
  private static final int SERVERS = 3;
  private static final List<Integer> GROUPS = List.of(1, 4);
  private static final List<Integer> REPLICAS = List.of(3, 1, 3, 2);

  private final int faults;
  private final int between;

  /// Creates the scenario for [java.util.ServiceLoader].
  public ClusterScenario() {
    this(6, 110);
  }

  /// @param faults the number of failures
  /// @param between the most turns of clients before and after each
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
    return Duration.ofMinutes(10);
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
    int groups = chance.of("groups").of(GROUPS);
    int replicas = chance.of("replicas").of(REPLICAS);
    trace.reached(groups == 1 ? "one group" : "several groups");
    trace.reached(replicas == 3 ? "replicas" : "log units");
    List<Path> directories = new ArrayList<>();
    try (var cluster = Cluster.start(directory, SERVERS, new Cluster.Shape(groups, replicas))) {
      for (int i = 0; i < SERVERS; i++) directories.add(cluster.directory(i));
      RecordedRun.run(
          cluster.url(), progress -> troubled(cluster, progress, chance, trace), chance, trace);
      requireAgreement(cluster, groups, trace);
      cluster.awaitLevel();
    }
    trace.reached("the blobs of all servers are the same");
    SameBlobs.require(
        IntStream.range(0, SERVERS)
            .mapToObj(i -> directories.get(i).resolve("replica-0"))
            .toList());
  }

  /// Checks that no present or former server has quarantined a deterministic object.
  private static void requireAgreement(Cluster cluster, int groups, Trace trace) {
    for (int group = 0; group < groups; group++) {
      var asked = StatusRequest.newBuilder().setGroup(group).build();
      for (int i = 0; i < cluster.size(); i++) {
        StatusReply status =
            new Operator(cluster.address(i), null, null, "--server")
                .askItself(server -> server.status(asked));
        for (QuarantineStatus object : status.getQuarantinedList()) {
          throw new AssertionError(object.getObject() + ": " + object.getEvidence());
        }
        for (ServerStatus server : status.getServersList()) {
          for (MemberStatus member : server.getGroupsList()) {
            if (member.getDiffered() > 0) {
              throw new AssertionError(
                  "server "
                      + server.getServer()
                      + " found "
                      + member.getDiffered()
                      + " differences");
            }
            for (long n = 0; n < member.getCompared(); n++) trace.reached("a state is compared");
          }
        }
      }
    }
  }

  private void troubled(Cluster cluster, CallerProgress progress, Chance chance, Trace trace)
      throws Exception {
    try (var snapshots = new RecordedSnapshots(cluster.url());
        var changes = new RecordedChanges(cluster.url(), chance.of("changes"))) {
      for (int i = 0; i < faults; i++) {
        progress.await(chance.between(between / 2, between));
        snapshots.take();
        happen(cluster, progress, chance, trace);
        snapshots.require();
        snapshots.trim();
        snapshots.require();
        trace.reached("the snapshots with names show the same");
        if (i < faults - 1) changes.acknowledge();
      }
      changes.require();
      trace.reached("the changes are the histories");
      snapshots.delete();
    }
    progress.await(between);
  }

  /// Lets one server fail, and brings it back.
  private void happen(Cluster cluster, CallerProgress progress, Chance chance, Trace trace)
      throws Exception {
    cluster.requireAlive();
    int leader = cluster.leader();
    boolean leads = chance.percent(60);
    int which = leads ? leader : (leader + chance.between(1, SERVERS - 1)) % SERVERS;
    String victim = leads ? "the leader" : "a follower";
    var _ = progress.longestSilence();
    String fault;
    switch (chance.below(4)) {
      case 0, 1 -> {
        fault = victim + " killed";
        cluster.kill(which);
        progress.await(chance.between(between / 2, between)); // calls go on without it
        trace.measured("ms without an answer: " + fault, progress.longestSilence().toMillis());
        cluster.startAgain(which);
      }
      case 2 -> {
        fault = victim + " paused";
        cluster.pause(which);
        progress.await(chance.between(between / 2, between));
        trace.measured("ms without an answer: " + fault, progress.longestSilence().toMillis());
        cluster.resume(which);
      }
      default -> {
        fault = victim + " stopped";
        cluster.stop(which);
        progress.await(chance.between(between / 2, between));
        trace.measured("ms without an answer: " + fault, progress.longestSilence().toMillis());
        cluster.startAgain(which);
      }
    }
    trace.reached(fault);
    progress.await(between / 2);
    trace.measured(
        "ms without an answer: " + fault + ", and back", progress.longestSilence().toMillis());
  }
}
