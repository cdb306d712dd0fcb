package stoa.trials;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import stoa.cli.ServerProcess.Site;
import stoa.programs.Directories;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.scenario.Scenario;

/// Clients with several threads each call the objects of three servers that keep one store, while
/// the disk of one is full, slow or damaged. Calls go on. A server with a full disk stops or
/// continues, and can restart when there is room; one that finds damage stops or refuses to start,
/// and a server with an empty directory replaces it; one that does not find the damage leads in the
/// end, and must answer like the others.
///
/// `./stoa test --campaign --scenario cluster-disks --seeds 0-19`, as root: each server has a loop
/// device. The seed determines the order of failures.
public final class DiskScenario implements Scenario {
  private static final int SERVERS = 3;
  private static final int WRITES_PER_SECOND = 20;
  private static final int DAMAGES = 3;
  private static final int FULL_TIMES = 4;

  private enum Fault {
    FULL,
    SLOW,
    DAMAGED
  }

  private final int faults;
  private final int between;

  /// Creates the scenario for [java.util.ServiceLoader].
  public DiskScenario() {
    this(5, 100);
  }

  /// @param faults the number of disk failures
  /// @param between the most turns of clients before and after each
  DiskScenario(int faults, int between) {
    this.faults = faults;
    this.between = between;
  }

  @Override
  public String name() {
    return "cluster-disks";
  }

  @Override
  public Duration timeMax() {
    return Duration.ofMinutes(10);
  }

  @Override
  public void run(Chance chance, Trace trace) throws Exception {
    Root.require(name(), "loop devices");
    Leftovers.clear();
    Path directory = OwnDisk.place();
    try (var disks = new Disks(directory)) {
      try (var cluster = Cluster.start(disks, SERVERS)) {
        RecordedRun.run(
            cluster.url(),
            progress -> happen(new Trouble(cluster, disks, progress, chance, trace)),
            chance,
            trace);
      }
    } finally {
      Directories.delete(directory);
    }
  }

  /// Gives each server a disk.
  private static final class Disks implements Cluster.Sites, AutoCloseable {
    private final Path directory;
    private final List<OwnDisk> all = new ArrayList<>();

    private Disks(Path directory) {
      this.directory = directory;
    }

    @Override
    public Site site(int number) {
      return Site.LOOPBACK;
    }

    @Override
    public Path directory(int number) throws IOException, InterruptedException {
      all.add(new OwnDisk(directory, "s" + number));
      return all.getLast().directory();
    }

    OwnDisk of(int which) {
      return all.get(which);
    }

    @Override
    public void close() throws IOException {
      var failed = new IOException("a disk is left");
      for (OwnDisk disk : all) {
        try {
          disk.close();
        } catch (IOException | RuntimeException left) {
          failed.addSuppressed(left);
        }
      }
      if (failed.getSuppressed().length > 0) throw failed;
    }
  }

  private record Trouble(
      Cluster cluster, Disks disks, CallerProgress progress, Chance chance, Trace trace) {}

  private void happen(Trouble trouble) throws Exception {
    Cluster cluster = trouble.cluster;
    CallerProgress progress = trouble.progress;
    Chance chance = trouble.chance;
    for (int i = 0; i < faults; i++) {
      progress.await(chance.between(between / 2, between));
      startStopped(trouble);
      int leader = cluster.leader();
      boolean leads = chance.percent(50);
      int which = leads ? leader : chance.of(cluster.followers(leader));
      String whose = leads ? "the leader" : "a follower";
      var _ = progress.longestSilence();
      switch (chance.of(List.of(Fault.values()))) {
        case FULL -> full(trouble, which, "a full disk at " + whose);
        case SLOW -> {
          if (OwnDisk.canBeSlow()) slow(trouble, which, "a slow disk at " + whose);
          else trouble.trace.reached("no slow disk: there is no cgroup blkio");
        }
        case DAMAGED -> damaged(trouble, which, "a damaged disk at " + whose);
      }
    }
    progress.await(between);
  }

  private void full(Trouble trouble, int which, String fault) throws Exception {
    OwnDisk disk = trouble.disks.of(which);
    disk.fill();
    // The file system first uses up the space allocated before.
    trouble.progress.await(FULL_TIMES * between);
    measure(trouble, fault);
    disk.free();
    startStopped(trouble);
    trouble.progress.await(between / 2);
    // It may be about to stop; then a failure of another server would leave one of three.
    trouble.cluster.awaitAbreast(which);
    startStopped(trouble);
    measure(trouble, fault + ", and room again");
  }

  /// Restarts servers that their disks have stopped, also some time after there was room again. A
  /// server may find damage late, too.
  private static void startStopped(Trouble trouble) throws Exception {
    for (int which : trouble.cluster.running()) {
      if (!trouble.cluster.hasEnded(which)) continue;
      trouble.trace.reached("a server stopped by its disk");
      if (!trouble.cluster.startsAgain(which)) replace(trouble, which);
    }
  }

  /// Replaces a server that refuses to start.
  private static void replace(Trouble trouble, int which) throws Exception {
    trouble.trace.reached("a server that refused to start on damage");
    trouble.cluster.drain(which);
    trouble.cluster.add();
  }

  private void slow(Trouble trouble, int which, String fault) throws Exception {
    OwnDisk disk = trouble.disks.of(which);
    disk.slow(trouble.cluster.process(which), WRITES_PER_SECOND);
    trouble.progress.await(between / 2);
    measure(trouble, fault);
    disk.quick();
    trouble.progress.await(between / 2);
    measure(trouble, fault + ", and quick again");
  }

  private void damaged(Trouble trouble, int which, String fault) throws Exception {
    Cluster cluster = trouble.cluster;
    cluster.kill(which);
    damage(trouble.disks.of(which).directory(), trouble.chance, trouble.trace);
    trouble.progress.await(between / 2);
    measure(trouble, fault);
    if (cluster.startsAgain(which)) {
      trouble.trace.reached("damage that did not keep a server from starting");
      trouble.progress.await(between / 2);
      cluster.letLead(which);
    } else {
      replace(trouble, which);
    }
    trouble.progress.await(between / 2);
    measure(trouble, fault + ", and back");
  }

  private static void measure(Trouble trouble, String fault) {
    trouble.trace.reached(fault);
    trouble.trace.measured(
        "ms without an answer: " + fault, trouble.progress.longestSilence().toMillis());
  }

  /// Flips bits in a few places.
  private static void damage(Path directory, Chance chance, Trace trace) throws IOException {
    List<Path> files;
    try (var all = Files.walk(directory)) {
      files =
          all.filter(Files::isRegularFile)
              .filter(file -> !file.toString().endsWith("lock") && file.toFile().length() > 0)
              .sorted()
              .toList();
    }
    for (int i = 0; i < DAMAGES; i++) {
      Path file = chance.of(files);
      trace.reached(
          "bytes turned over in " + file.getFileName().toString().replaceAll("[0-9]+", "N"));
      try (var bytes = new RandomAccessFile(file.toFile(), "rw")) {
        long at = Math.floorMod(chance.any(), bytes.length());
        bytes.seek(at);
        int was = bytes.read();
        bytes.seek(at);
        bytes.write(was ^ 1 << chance.below(Byte.SIZE));
      }
    }
  }
}
