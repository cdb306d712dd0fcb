package stoa.trials;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import stoa.cli.Main;
import stoa.programs.Directories;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.scenario.Scenario;

/// Clients with several threads each call the objects of three servers that keep one store, while
/// two of the servers are killed: no call gets an answer, and callers learn why. Then the servers
/// come back, and calls go on; all answers must be consistent. At the end, when no client calls,
/// two are lost for good: the third continues alone with all its data, and others join it.
///
/// `./stoa test --campaign --scenario cluster-majority --seeds 0-19`. The seed determines the
/// killed servers.
public final class MajorityScenario implements Scenario {
  private static final int SERVERS = 3;
  private static final int ENOUGH = 2;
  private static final int FEW = 10;
  private static final long ALONE_MILLIS = 5_000;

  private final int between;

  /// Creates the scenario for [java.util.ServiceLoader].
  public MajorityScenario() {
    this(100);
  }

  /// @param between the most turns of clients between two changes
  MajorityScenario(int between) {
    this.between = between;
  }

  @Override
  public String name() {
    return "cluster-majority";
  }

  @Override
  public Duration timeMax() {
    return Duration.ofMinutes(10);
  }

  @Override
  public void run(Chance chance, Trace trace) throws Exception {
    Path directory = Files.createTempDirectory("cluster-history");
    try (var cluster = Cluster.start(directory, SERVERS)) {
      var faults =
          new RecordedRun.Faults() {
            @Override
            public void happen(CallerProgress progress) throws Exception {
              progress.await(chance.between(between / 2, between));
              outage(cluster, progress, chance, trace);
              progress.await(between);
            }

            @Override
            public void afterwards() throws Exception {
              loss(cluster, chance, trace);
            }
          };
      RecordedRun.run(cluster.url(), faults, chance, trace);
    } finally {
      Directories.delete(directory);
    }
  }

  /// Kills two servers for a while.
  private static void outage(Cluster cluster, CallerProgress progress, Chance chance, Trace trace)
      throws Exception {
    int left = chance.below(SERVERS);
    List<Integer> gone = cluster.followers(left);
    for (int which : gone) cluster.kill(which);
    cluster.awaitFollower(left);
    var _ = progress.longestSilence();
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(ALONE_MILLIS));
    if (progress.longestSilence().toMillis() < ALONE_MILLIS / 2) {
      throw new AssertionError("one server of three answers calls");
    }
    String told = told(cluster, left);
    if (!told.contains("a group has no leader")) {
      throw new AssertionError("the operator is told nothing of the others: " + told);
    }
    trace.reached("two of three servers killed");
    for (int which : gone.subList(0, ENOUGH - 1)) cluster.startAgain(which);
    progress.await(FEW);
    trace.measured(
        "ms without an answer: two killed, one started again 5 s later",
        progress.longestSilence().toMillis());
    for (int which : gone.subList(ENOUGH - 1, gone.size())) cluster.startAgain(which);
  }

  /// Loses two servers for good. The third has all acknowledged calls, so none may be missing.
  private static void loss(Cluster cluster, Chance chance, Trace trace) throws Exception {
    int left = chance.below(SERVERS);
    cluster.awaitLevel();
    for (int which : cluster.running()) cluster.kill(which);
    String data = cluster.directory(left).toString();
    if (run("recover", "--data", data).code() == 0) {
      throw new AssertionError("a server goes on alone though nobody said that others are lost");
    }
    Ended recovered = run("recover", "--data", data, "--others-are-lost");
    if (recovered.code() != 0) throw new AssertionError(recovered.said());
    cluster.startAgain(left);
    String[] audit = {"audit", "--server", cluster.address(left)};
    while (!run(audit).said().contains("recover " + data)) Thread.onSpinWait();
    trace.reached("one server of three goes on alone");
    for (int i = 1; i < SERVERS; i++) trace.reached(cluster.name(cluster.add()) + " joined it");
  }

  /// The result of a command.
  private record Ended(int code, String said) {}

  private static Ended run(String... command) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    return new Ended(Main.run(out, out, command), text.toString());
  }

  private static String told(Cluster cluster, int which) {
    return run("status", "--server", cluster.address(which)).said();
  }
}
