package stoa.trials;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import stoa.cli.ServerProcess;
import stoa.programs.Directories;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.scenario.Scenario;

/// A rolling upgrade: three servers of another release keep one store, and restart with this one,
/// one after the other, while clients of this one call. Calls go on, and all answers must be
/// consistent. Clients use blobs when all servers are of this one.
///
/// `STOA_BEFORE=DIR ./stoa test --campaign --scenario cluster-upgrade --seeds 0-4`, where DIR has
/// the source of the other release, and `./stoa test --campaign --help` was run there. That one
/// must speak the transport of this repository, as the first release does and versions before it do
/// not.
public final class UpgradeScenario implements Scenario {
  private static final String BEFORE = "STOA_BEFORE";
  private static final int SERVERS = 3;
  private static final int BETWEEN = 80;

  /// Creates the scenario for [java.util.ServiceLoader].
  public UpgradeScenario() {}

  @Override
  public String name() {
    return "cluster-upgrade";
  }

  @Override
  public Duration timeMax() {
    return Duration.ofMinutes(10);
  }

  @Override
  public void run(Chance chance, Trace trace) throws Exception {
    var site = ServerProcess.Site.LOOPBACK.withRelease(before());
    Path directory = Files.createTempDirectory("cluster-history");
    try (var cluster = Cluster.start(sites(site, directory), SERVERS)) {
      RecordedRun.run(cluster.url(), new Upgrades(cluster, chance, trace), chance, trace);
    } finally {
      Directories.delete(directory);
    }
  }

  /// The upgrades. Servers of the other release may have no blobs, and keep streams elsewhere, so
  /// clients use both when all are of this one.
  private record Upgrades(Cluster cluster, Chance chance, Trace trace, AtomicBoolean done)
      implements RecordedRun.Faults {
    private Upgrades(Cluster cluster, Chance chance, Trace trace) {
      this(cluster, chance, trace, new AtomicBoolean());
    }

    @Override
    public void happen(CallerProgress progress) throws Exception {
      MembersScenario.restarts(cluster, progress, chance, trace, "a server upgraded", BETWEEN);
      done.set(true);
      progress.await(BETWEEN);
    }

    @Override
    public boolean areOfThisRelease() {
      return done.get();
    }
  }

  private static Cluster.Sites sites(ServerProcess.Site site, Path directory) {
    return new Cluster.Sites() {
      @Override
      public ServerProcess.Site site(int number) {
        return site;
      }

      @Override
      public Path directory(int number) {
        return directory.resolve("s" + number);
      }
    };
  }

  /// Returns the class path of the other release.
  private static String before() {
    String directory = System.getenv(BEFORE);
    Path built =
        Path.of(directory == null ? "" : directory, "trials", "target", "quick").toAbsolutePath();
    if (directory == null || !Files.isDirectory(built.resolve("lib"))) {
      throw new IllegalStateException(
          ("%s is %s; set it to the directory of the source of another release, and run"
                  + " ./stoa test --campaign --help there")
              .formatted(BEFORE, directory == null ? "not set" : "\"" + directory + "\""));
    }
    return built + "/*" + File.pathSeparator + built.resolve("lib") + "/*";
  }
}
