package stoa.bench.migration;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import stoa.Reads;
import stoa.Stoa;
import stoa.bench.load.Samples;
import stoa.bench.machine.ServerJava;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;
import stoa.programs.BackgroundProcess;
import stoa.programs.Directories;

/// The part of Figures 9 to 11 with real processes: a server, and clients that are nodes of its
/// tree, over the loopback interface. Nothing is simulated; all share the processors of this
/// machine. One of the clients is a leaf, and the others are inner nodes.
///
/// The processes stay for all loads, which take turns, after they have called long enough for Java
/// to compile everything.
final class ProcessPhase {
  private static final double LEAVE = 0.005;
  private static final List<Integer> TOGETHER = List.of(2, 5);
  private static final int LEAF = 1;

  /// The same load of all processes.
  private record Load(int objects, int together, Reads reads, double leave) {
    @Override
    public String toString() {
      String all = objects == 1 ? "1 object" : objects + " objects";
      if (leave > 0) return String.format(Locale.ROOT, "%s, Pr(leave) %s", all, leave);
      if (reads == Reads.LOCAL) return all + ", reads local";
      return together == 1 ? all : together + " of " + all;
    }
  }

  private final Context<MigrationScale> context;
  private final MigrationScale scale;
  private final List<Load> loads = new ArrayList<>();

  ProcessPhase(Context<MigrationScale> context) {
    this.context = context;
    scale = context.sizes();
    int most = scale.objectsMost();
    loads.add(new Load(1, 1, Reads.STRICT, 0));
    loads.add(new Load(most, 1, Reads.STRICT, 0));
    loads.add(new Load(most, 1, Reads.LOCAL, 0));
    for (int together : TOGETHER) loads.add(new Load(most, together, Reads.STRICT, 0));
    loads.add(new Load(most, 1, Reads.STRICT, LEAVE));
  }

  void measure(Findings findings) throws Exception {
    if (scale.processes().isEmpty()) return;
    var samples = new Samples();
    for (int processes : scale.processes()) run(samples, processes);
    List<Result> results = new ArrayList<>();
    for (String name : samples.measures()) {
      if (name.endsWith("/s")) results.add(Result.of(samples, name, "/s"));
      else if (name.endsWith("leaves")) results.add(Result.of(samples, name, "leaves"));
      else results.add(Result.of(samples, name, "ms"));
    }
    findings.section(
        "Figures 9 to 11, each node a process, over loopback; nothing is simulated", results);
  }

  private void run(Samples samples, int processes) throws Exception {
    Path folder = context.folder().resolve("processes");
    try (var server = server(folder)) {
      String url = url(server);
      List<TreeProcess> all = new ArrayList<>();
      try {
        for (int i = 0; i < processes; i++) {
          var kind = i == LEAF ? TreeChild.Kind.LEAF : TreeChild.Kind.INNER;
          var process = new TreeProcess(url, kind, i, scale.objectsMost());
          all.add(process);
          var _ = process.await();
        }
        heat(all);
        long before = updates(url);
        double made = run(samples, all);
        long there = updates(url) - before;
        if (there != made) {
          throw new IllegalStateException("%,d updates of %,.0f are there".formatted(there, made));
        }
      } finally {
        all.forEach(TreeProcess::close);
      }
    } finally {
      Directories.delete(folder);
    }
  }

  /// Starts a server.
  static BackgroundProcess server(Path folder) throws Exception {
    return BackgroundProcess.java(
        "stoa.cli.Main",
        ServerJava.HEAP,
        List.of("serve", "--data", folder.toString(), "--listen", "127.0.0.1:0"));
  }

  /// Waits until it is ready, and returns its URL.
  static String url(BackgroundProcess server) throws Exception {
    String url = "stoa://" + server.await("listening on ");
    var _ = server.await("ready");
    return url;
  }

  /// Warms up the processes. While Java compiles a lot, one may be silent for too long, and lose
  /// its connection.
  private void heat(List<TreeProcess> all) throws Exception {
    say("%d processes get warm", all.size());
    var each = scale.processHeat().multipliedBy(all.size()).dividedBy(loads.size());
    for (var load : loads) {
      var _ = run(all, load, 0, Duration.ZERO, each);
    }
  }

  /// Runs the loads; returns how many updates they made.
  private double run(Samples samples, List<TreeProcess> all) throws Exception {
    double made = 0;
    for (int round = 1; round <= scale.rounds(); round++) {
      for (var load : loads) {
        say("%d processes, round %d: %s", all.size(), round, load);
        var told = run(all, load, round, scale.processWarmUp(), scale.processTime());
        if (sum(told, "disconnected") > 0) {
          throw new IllegalStateException("a process was disconnected: the machine is too busy");
        }
        keep(samples, "%d processes, %s".formatted(all.size(), load), load, told);
        made += sum(told, "made");
      }
    }
    return made;
  }

  private static List<Map<String, Double>> run(
      List<TreeProcess> all, Load load, int round, Duration warmUp, Duration time)
      throws Exception {
    var task =
        new TreeChild.Task(
            load.objects,
            load.together,
            load.reads,
            load.leave,
            (long) round * all.size(),
            warmUp,
            time);
    return run(all, task);
  }

  /// Runs a load of all processes.
  ///
  /// @return what each of them tells
  static List<Map<String, Double>> run(List<TreeProcess> all, TreeChild.Task task)
      throws Exception {
    for (var process : all) process.begin(task);
    List<Map<String, Double>> told = new ArrayList<>();
    for (var process : all) told.add(process.await());
    return told;
  }

  private void keep(Samples samples, String name, Load load, List<Map<String, Double>> told) {
    // Local reads use up the processors, so that there are almost no updates.
    var kinds = load.reads == Reads.LOCAL ? List.of("reads") : List.of("updates", "reads");
    double seconds = (scale.processTime().toMillis() - sum(told, "away") / told.size()) / 1_000;
    for (String kind : kinds) {
      double count = sum(told, kind);
      samples.add(name + ", " + kind + "/s", count / seconds);
      samples.add(name + ", " + kind + ", mean", sum(told, kind + "-millis") / Math.max(1, count));
    }
    if (load.leave == 0) return;
    double leaves = sum(told, "leaves");
    samples.add(name + ", leaves", leaves);
    samples.add(name + ", until one was back, mean", sum(told, "away") / Math.max(1, leaves));
  }

  /// Returns the sum of what the processes tell under a name.
  static double sum(List<Map<String, Double>> told, String name) {
    return told.stream().mapToDouble(each -> each.getOrDefault(name, Double.NaN)).sum();
  }

  /// Returns how many updates are in the store. No update of a process may be lost.
  private long updates(String url) {
    try (var stoa = Stoa.open(url)) {
      long sum = 0;
      for (int i = 0; i < scale.objectsMost(); i++) {
        sum += stoa.get(Tally.class, "tally-" + i).value();
      }
      return sum;
    }
  }

  private void say(String format, Object... parts) {
    context.progress().accept(format.formatted(parts));
  }
}
