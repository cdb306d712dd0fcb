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
import stoa.Limits;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.sim.Chance;
import stoa.sim.Scenario;
import stoa.sim.Trace;

/// Clients with several threads each call the objects of a server over a network that cuts their
/// connections, while the server is killed and started again. What they were answered must be
/// linearizable for each object and key, and strictly serializable over several; their listeners
/// must have missed nothing, and seen no disorder.
///
/// `./stoa test --campaign --scenario remote --seeds 0-99`. The seed decides what is called and
/// when the server is killed, counted in turns; threads and the network decide the rest, so that a
/// failure may need several runs of its seed to come back.
public final class RemoteScenario implements Scenario {
  private static final int CLIENTS = 3;
  private static final int THREADS = 3;
  private static final int LIVES_BYTES_MIN = 10_000;
  private static final int LIVES_BYTES_MAX = 60_000;
  private static final int LOSING_MILLIS_MAX = 200;
  private static final Duration CALL_TIME_MAX = Duration.ofSeconds(90);

  private final int turns;
  private final int kills;

  /// For [java.util.ServiceLoader].
  public RemoteScenario() {
    this(120, 3);
  }

  /// @param turns how many each thread takes
  /// @param kills how often the server is killed
  RemoteScenario(int turns, int kills) {
    this.turns = turns;
    this.kills = kills;
  }

  @Override
  public String name() {
    return "remote";
  }

  @Override
  public Duration timeMax() {
    return Duration.ofMinutes(5);
  }

  @Override
  public void run(Chance chance, Trace trace) throws Exception {
    Path directory = Files.createTempDirectory("remote-history");
    try {
      run(directory, chance, trace);
    } finally {
      Directories.delete(directory);
    }
  }

  private void run(Path directory, Chance chance, Trace trace) throws Exception {
    ServerProcess server = ServerProcess.start(directory);
    try (var network =
        new CuttingNetwork(
            server.port(),
            chance.between(LIVES_BYTES_MIN, LIVES_BYTES_MAX),
            chance.of("network"))) {
      var config =
          StoaConfig.of(network.url()).withLimits(Limits.standard().withCallTimeMax(CALL_TIME_MAX));
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
          int between = CLIENTS * THREADS * turns / (kills + 1);
          for (int i = 0; i < kills; i++) {
            taken.acquire(chance.between(between / 2, between));
            // Also killed right behind its answers: what was acknowledged is to be there.
            boolean losing = chance.percent(70);
            if (losing) network.lose(chance.between(3, 9), chance.below(LOSING_MILLIS_MAX));
            server.kill();
            network.deliver();
            server = server.startAgain();
            trace.reached("the server killed");
          }
          for (var end : ends) end.get();
        } catch (ExecutionException failed) {
          throw new AssertionError("a client failed: " + failed.getCause(), failed.getCause());
        }
        network.calm();
        work.require(clients.getFirst());
        for (int i = 0; i < network.cuts(); i++) trace.reached("a connection cut");
        work.places()
            .forEach((place, count) -> {
              for (long i = 0; i < count; i++) trace.reached(place);
            });
      } finally {
        clients.forEach(Stoa::close);
      }
    } finally {
      server.close();
    }
  }
}
