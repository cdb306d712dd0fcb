package stoa.trials;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import stoa.cli.ServerProcess;
import stoa.programs.Directories;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.scenario.Scenario;

/// Clients with several threads each call the objects of a server over a network that cuts their
/// connections, while the server is killed and restarted. The answers must be linearizable for each
/// object and key, and strictly serializable over several; their listeners must have missed no
/// event, and seen no disorder.
///
/// `./stoa test --campaign --scenario remote --seeds 0-99`. The seed determines the calls and the
/// kills, counted in turns; threads and the network determine the rest, so that it may take several
/// runs of a seed to repeat a failure.
public final class RemoteScenario implements Scenario {
  private static final int LIVES_BYTES_MIN = 10_000;
  private static final int LIVES_BYTES_MAX = 60_000;
  private static final int LOSING_MILLIS_MAX = 200;

  private final int kills;
  private final int between;

  /// Creates the scenario for [java.util.ServiceLoader].
  public RemoteScenario() {
    this(3, 270);
  }

  /// @param kills how often the server is killed
  /// @param between the most turns of clients between two kills
  RemoteScenario(int kills, int between) {
    this.kills = kills;
    this.between = between;
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
    try (var kills = new Kills(directory, chance, trace)) {
      RecordedRun.run(kills.network.url(), kills, chance, trace);
      for (int i = 0; i < kills.network.cuts(); i++) trace.reached("a connection cut");
    }
  }

  private final class Kills implements RecordedRun.Faults, AutoCloseable {
    private final Chance chance;
    private final Trace trace;
    private final CuttingNetwork network;
    private ServerProcess server;

    private Kills(Path directory, Chance chance, Trace trace) throws IOException {
      this.chance = chance;
      this.trace = trace;
      server = ServerProcess.start(directory);
      network =
          new CuttingNetwork(
              server.port(),
              chance.between(LIVES_BYTES_MIN, LIVES_BYTES_MAX),
              chance.of("network"));
    }

    @Override
    public void happen(CallerProgress progress) throws Exception {
      for (int i = 0; i < kills; i++) {
        progress.await(chance.between(between / 2, between));
        // Also killed right after its answers: the acknowledged calls must be there.
        boolean losing = chance.percent(70);
        if (losing) network.lose(chance.between(3, 9), chance.below(LOSING_MILLIS_MAX));
        server.kill();
        network.deliver();
        server = server.startAgain();
        trace.reached("the server killed");
      }
      progress.await(between);
      network.calm();
    }

    @Override
    public void close() throws IOException {
      network.close();
      server.close();
    }
  }
}
