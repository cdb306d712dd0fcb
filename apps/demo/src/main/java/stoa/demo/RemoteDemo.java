package stoa.demo;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.cli.ServerProcess;
import stoa.programs.Directories;
import stoa.programs.Words;
import stoa.stacksync.Design;
import stoa.stacksync.replay.Dispatch;
import stoa.stacksync.replay.Observer;
import stoa.stacksync.replay.Preparation;
import stoa.stacksync.replay.ReplayReport;
import stoa.stacksync.replay.StoredItem;
import stoa.stacksync.replay.Trace;

/// The demo over the network: a server in one process, service instances in others, as in section
/// VI.B of the CRESON paper. This process is the queue from which they take requests.
///
/// Owned by the thread that calls [#run].
final class RemoteDemo {
  // Batches on the way to an instance, for each of its threads: one at work and one to follow.
  private static final int BATCHES_PER_CLIENT = 2;

  /*
   * (1) An instance answers a request after the service did, and the pipe outlives it. So the
   *     service has acknowledged every change that this process counts as acknowledged.
   * (2) After a kill of the server, the demo sends no further batch until all calls in progress are
   *     answered. Then the server must hold exactly the acknowledged changes: no less, and no more.
   * (3) That nothing happened twice shows in the versions of the files and the sums of the quotas
   *     at the end, see Verification.
   */
  private final PrintWriter out;
  private final Path parent;
  private final @Nullable Path wanted;
  private final Replayed scenario;
  private final int instances;

  /// @param wanted the user's directory; null for a new one under `parent`, which is removed again
  RemoteDemo(
      PrintWriter out, Path parent, @Nullable Path wanted, Replayed scenario, int instances) {
    this.out = out;
    this.parent = parent;
    this.wanted = wanted;
    this.scenario = scenario;
    this.instances = instances;
  }

  /// Runs it in one design after the other, each with a server and a store of its own.
  ///
  /// @param killCount how many kills there are in each
  /// @param seed chooses their moments
  /// @return whether everything verifies
  boolean run(List<Design> designs, int killCount, long seed)
      throws IOException, InterruptedException {
    var trace = scenario.trace();
    out.println("StackSync replays a real history with a server and service instances.");
    line("history", Demo.describe(trace));
    if (killCount > 0) line("seed", seed + "  (--seed " + seed + " chooses the same moments)");
    var directory = Directories.fresh(wanted, parent, "remote-");
    boolean verified = true;
    var reports = new LinkedHashMap<Design, ReplayReport>();
    for (var design : designs) {
      out.println();
      line("design", Replayed.describe(design));
      var kills =
          killCount == 0
              ? Kills.NONE
              : Kills.choose(killCount, trace.rows().size(), instances, seed);
      var store = directory.resolve(Replayed.word(design));
      Files.createDirectories(store);
      verified &= run(store, trace, scenario.in(design), kills, reports);
    }
    out.println();
    if (reports.size() > 1 && killCount == 0) compare(reports);
    if (verified && wanted == null) {
      Directories.delete(directory);
      line("removed", directory + "; --data DIR would keep it");
    } else {
      line("on disk", Words.bytes(Directories.sizeBytes(directory)) + " in " + directory);
    }
    return verified;
  }

  private boolean run(
      Path directory,
      Trace trace,
      Replayed inDesign,
      Kills kills,
      Map<Design, ReplayReport> reports)
      throws IOException, InterruptedException {
    var server = ServerProcess.start(directory);
    var running = new ArrayList<InstanceProcess>();
    try {
      line("server", "process %d at %s".formatted(server.id(), server.address()));
      Map<Long, Integer> stored;
      try (var store = Stoa.open(server.url())) {
        stored = new Preparation(store, trace, inDesign.design()).run();
      }
      line("ready", "the service knows all users, devices and workspaces");
      var observer = kills.list().isEmpty() ? ProgressBar.on(out) : Observer.none();
      int window = BATCHES_PER_CLIENT * inDesign.clients();
      var dispatch = new Dispatch(trace, stored, instances, window, observer);
      for (int i = 0; i < instances; i++) {
        running.add(InstanceProcess.start(dispatch, i, server.url(), inDesign));
      }
      boolean kept = true;
      int number = 0;
      for (var kill : kills.list()) {
        if (!dispatch.await(kill.changes())) break;
        number++;
        switch (kill.victim()) {
          case Kills.Victim.Instance(int victim) -> {
            running.get(victim).kill();
            line("kill " + number, "instance %d, %s".formatted(victim + 1, after(dispatch)));
          }
          case Kills.Victim.Server() -> {
            server.kill();
            line("kill " + number, "the server, " + after(dispatch));
            server = restart(server);
            kept &= check(server, dispatch);
          }
          case Kills.Victim.Both(int victim) -> {
            server.kill();
            running.get(victim).kill();
            line(
                "kill " + number,
                "the server and instance %d, %s".formatted(victim + 1, after(dispatch)));
            server = restart(server);
            kept &= check(server, dispatch);
          }
        }
      }
      dispatch.await(Integer.MAX_VALUE);
      for (var instance : running) instance.end();
      var report = dispatch.report();
      reports.put(inDesign.design(), report);
      Demo.report(
          out,
          report,
          "%s of %s"
              .formatted(
                  Words.count(instances, "instance"), Words.count(inDesign.clients(), "client")));
      boolean verified;
      try (var store = Stoa.open(server.url())) {
        verified = Demo.verify(out, store, trace) && kept;
        new TimeTravel(out, store, trace).show();
      }
      if (number > 0) {
        line(
            verified ? "proved" : "WRONG",
            "%s: %s acknowledged, %s"
                .formatted(
                    Words.count(number, "kill"),
                    Words.count(report.changes(), "change"),
                    verified ? "none of them lost, none done twice" : "but see above"));
      }
      if (!server.stop()) {
        line("WRONG", "the server did not end when it was told to, and was killed");
        verified = false;
      }
      return verified;
    } finally {
      for (var instance : running) instance.close();
      server.close();
    }
  }

  private ServerProcess restart(ServerProcess killed) throws IOException {
    long start = System.nanoTime();
    var server = killed.startAgain();
    var time = Duration.ofNanos(System.nanoTime() - start);
    line("restarted", "as process " + server.id() + ", ready in " + Words.seconds(time));
    return server;
  }

  /// Compares what the server holds with what was acknowledged.
  private boolean check(ServerProcess server, Dispatch dispatch) throws InterruptedException {
    var acknowledged = dispatch.settle();
    Map<Long, Integer> found;
    try (var store = Stoa.open(server.url())) {
      found = StoredItem.newest(store);
    }
    dispatch.resume();
    long lost = excess(acknowledged, found);
    long more = excess(found, acknowledged);
    line(
        lost + more == 0 ? "checked" : "WRONG",
        lost + more == 0
            ? "it holds exactly what was acknowledged: " + Words.count(sum(found), "version")
            : "%s lost, %s that were never acknowledged"
                .formatted(Words.count(lost, "acknowledged change"), Words.count(more)));
    return lost + more == 0;
  }

  private static long excess(Map<Long, Integer> versions, Map<Long, Integer> others) {
    return versions.entrySet().stream()
        .mapToLong(each -> Math.max(0, each.getValue() - others.getOrDefault(each.getKey(), 0)))
        .sum();
  }

  private static long sum(Map<Long, Integer> versions) {
    return versions.values().stream().mapToLong(Integer::longValue).sum();
  }

  private static String after(Dispatch dispatch) {
    return "after " + Words.count(dispatch.report().changes(), "acknowledged change");
  }

  private void compare(Map<Design, ReplayReport> reports) {
    reports.forEach((design, report) ->
        line(
            "design",
            "%-17s %7s commits/s   %s"
                .formatted(
                    Replayed.word(design),
                    Words.count(Math.round(report.commitsPerSecond())),
                    Demo.describe(report.latencies()))));
  }

  private void line(String label, String text) {
    Demo.line(out, label, text);
  }
}
