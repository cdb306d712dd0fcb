package stoa.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import stoa.Limits;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.sim.Chance;
import stoa.sim.Scenario;
import stoa.sim.Trace;
import stoa.wire.proto.QuarantineStatus;
import stoa.wire.proto.ServerStatus;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;

/// Clients with several threads each call the objects of three servers that keep one store, while
/// one server after the other is killed and started again, or stopped and continued. Calls go on
/// meanwhile. What they were answered must be linearizable for each object, and strictly
/// serializable over several; and the servers that follow must find all objects and keys as they
/// are at the leader.
///
/// `./stoa test --campaign --scenario cluster --seeds 0-99`. The seed decides what is called, and
/// what happens to which server, counted in turns; threads and elections decide the rest, so that a
/// failure may need several runs of its seed to come back.
public final class ClusterScenario implements Scenario {
  private static final int SERVERS = 3;
  private static final int CLIENTS = 3;
  private static final int THREADS = 3;
  private static final Duration CALL_TIME_MAX = Duration.ofSeconds(90);

  private final int turns;
  private final int faults;

  /// For [java.util.ServiceLoader].
  public ClusterScenario() {
    this(160, 6);
  }

  /// @param turns how many each thread takes
  /// @param faults how often something happens to a server
  ClusterScenario(int turns, int faults) {
    this.turns = turns;
    this.faults = faults;
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
      String url =
          servers.stream()
              .map(ServerProcess::address)
              .collect(Collectors.joining(",", "stoa://", ""));
      var config = StoaConfig.of(url).withLimits(Limits.standard().withCallTimeMax(CALL_TIME_MAX));
      var clients = new ArrayList<Stoa>();
      try {
        for (int i = 0; i < CLIENTS; i++) clients.add(Stoa.open(config));
        var work = new RecordedWork(clients.getFirst());
        var taken = new Semaphore(0);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
          List<Future<?>> ends = new ArrayList<>();
          for (int i = 0; i < CLIENTS * THREADS; i++) {
            String name = "c" + i % CLIENTS + "t" + i / CLIENTS;
            var worker = work.worker(name, clients.get(i % CLIENTS), chance.of(name));
            ends.add(threads.submit(() -> worker.turns(turns, taken)));
          }
          int between = CLIENTS * THREADS * turns / (2 * faults + 1);
          for (int i = 0; i < faults; i++) {
            taken.acquire(chance.between(between / 2, between));
            int which = chance.below(SERVERS);
            if (chance.percent(60)) {
              servers.get(which).kill();
              trace.reached("a server killed");
              taken.acquire(chance.between(between / 2, between)); // calls go on without it
              servers.set(which, servers.get(which).startAgain());
            } else {
              servers.get(which).pause();
              trace.reached("a server stopped");
              taken.acquire(chance.between(between / 2, between));
              servers.get(which).resume();
            }
          }
          for (var end : ends) end.get();
        } catch (ExecutionException failed) {
          throw new AssertionError("a client failed: " + failed.getCause(), failed.getCause());
        }
        work.require(clients.getFirst());
        requireAgreement(servers, trace);
        work.places()
            .forEach((place, count) -> {
              for (long i = 0; i < count; i++) trace.reached(place);
            });
      } finally {
        clients.forEach(Stoa::close);
      }
    } finally {
      servers.forEach(ServerProcess::close);
    }
  }

  /// Nothing that is deterministic was suspected, by whoever is there now or was there before.
  private static void requireAgreement(List<ServerProcess> servers, Trace trace) {
    for (ServerProcess server : servers) {
      var operator = new Operator(server.address(), null, null, "--server");
      StatusReply status =
          operator.askItself(asked -> asked.status(StatusRequest.getDefaultInstance()));
      for (QuarantineStatus object : status.getQuarantinedList()) {
        throw new AssertionError(object.getObject() + ": " + object.getEvidence());
      }
      for (ServerStatus member : status.getServersList()) {
        if (member.getDiffered() > 0) {
          throw new AssertionError(
              "server " + member.getServer() + " found " + member.getDiffered() + " differences");
        }
        for (long i = 0; i < member.getCompared(); i++) trace.reached("a state is compared");
      }
    }
  }

  private static ServerProcess start(Path directory, int index, List<ServerProcess> before)
      throws Exception {
    var options = new ArrayList<>(List.of("--name", "s" + (index + 1)));
    if (before.isEmpty()) options.add("--replicated");
    else options.addAll(List.of("--join", before.getFirst().address()));
    return ServerProcess.start(directory.resolve("s" + (index + 1)), options);
  }
}
