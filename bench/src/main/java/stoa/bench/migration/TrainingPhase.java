package stoa.bench.migration;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import stoa.Reads;
import stoa.Stoa;
import stoa.bench.load.Samples;
import stoa.bench.migration.TrafficPhase.Design;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;
import stoa.programs.Directories;

/// Figure 13 without any simulation: client processes and a server over the loopback interface, and
/// LIBSVM trains the classifiers, at the clients or at the server.
///
/// All processes share the processors of this machine, so that the counts of both designs are bound
/// by them together. The processor time of the server for each update says what more machines would
/// change: it bounds the updates of all clients together.
final class TrainingPhase {
  private static final List<String> HEAP = List.of("-Xmx512m");
  private static final String SERVER = ", processor of the server";
  private static final String CLIENTS = ", processor of the clients";

  private final Context<MigrationScale> context;
  private final MigrationScale scale;
  private final Samples samples = new Samples();

  // The updates that the processes of the present run have made.
  private double made;

  TrainingPhase(Context<MigrationScale> context) {
    this.context = context;
    scale = context.sizes();
  }

  void measure(Findings findings) throws Exception {
    if (scale.processes().isEmpty()) return;
    int processes = scale.processes().getFirst();
    for (int round = 1; round <= scale.trafficRounds(); round++) {
      for (var design : Design.values()) {
        context
            .progress()
            .accept("training, round %d: %d processes, %s".formatted(round, processes, design));
        run(processes, design, round);
      }
    }
    List<Result> results = new ArrayList<>();
    for (var design : Design.values()) {
      for (var kind : List.of("updates", "reads")) {
        String name = design + ", " + kind;
        var rate = Result.of(samples, name, "/s");
        String central = Design.CENTRAL + ", " + kind;
        results.add(
            design == Design.CENTRAL ? rate : rate.beside("central", samples.median(central)));
        results.add(Result.of(samples, name + ", mean", "ms"));
      }
      results.add(Result.of(samples, design + SERVER, "ms/update"));
      results.add(Result.of(samples, design + CLIENTS, "ms/update"));
    }
    findings.section(
        "Figure 13 with real training, %d client processes and a server over loopback, %d classifiers"
            .formatted(processes, scale.objectsMost()),
        results);
  }

  private void run(int processes, Design design, int round) throws Exception {
    Path folder = context.folder().resolve("training");
    made = 0;
    try (var server = ProcessPhase.server(folder)) {
      String url = ProcessPhase.url(server);
      List<TreeProcess> all = new ArrayList<>();
      try {
        for (int i = 0; i < processes; i++) {
          var process =
              new TreeProcess(
                  TrainingChild.class, HEAP, url, design.name(), i, scale.objectsMost());
          all.add(process);
          var _ = process.await();
        }
        var _ = run(all, 0, scale.processHeat().multipliedBy(processes));
        var server0 = server.processorTime();
        var clients0 = processorTime(all);
        var told = run(all, round, scale.workTime());
        samples.add(design + SERVER, perUpdate(server.processorTime().minus(server0), told));
        samples.add(design + CLIENTS, perUpdate(processorTime(all).minus(clients0), told));
        keep(design, told);
        check(url, design, made);
      } finally {
        all.forEach(TreeProcess::close);
      }
    } finally {
      Directories.delete(folder);
    }
  }

  /// Runs a load.
  ///
  /// @return what each process tells
  private List<Map<String, Double>> run(List<TreeProcess> all, int round, Duration time)
      throws Exception {
    var task =
        new TreeChild.Task(
            scale.objectsMost(),
            1,
            Reads.STRICT,
            0,
            (long) round * all.size(),
            Duration.ZERO,
            time);
    var told = ProcessPhase.run(all, task);
    if (ProcessPhase.sum(told, "disconnected") > 0) {
      throw new IllegalStateException("a process was disconnected: the machine is too busy");
    }
    made += ProcessPhase.sum(told, "made");
    return told;
  }

  private void keep(Design design, List<Map<String, Double>> told) {
    for (var kind : List.of("updates", "reads")) {
      double count = ProcessPhase.sum(told, kind);
      String name = design + ", " + kind;
      samples.add(name, count / (scale.workTime().toMillis() / 1e3));
      samples.add(name + ", mean", ProcessPhase.sum(told, kind + "-millis") / Math.max(1, count));
    }
  }

  private static double perUpdate(Duration used, List<Map<String, Double>> told) {
    return used.toNanos() / 1e6 / Math.max(1, ProcessPhase.sum(told, "made"));
  }

  private static Duration processorTime(List<TreeProcess> all) {
    return all.stream().map(TreeProcess::processorTime).reduce(Duration.ZERO, Duration::plus);
  }

  /// Checks that all updates are in the store.
  private void check(String url, Design design, double expected) {
    double there = 0;
    try (var stoa = Stoa.open(url)) {
      for (int i = 0; i < scale.objectsMost(); i++) {
        there += TrainingChild.learner(stoa, design, i).updates();
      }
    }
    if (there != expected) {
      throw new IllegalStateException(
          "%,.0f updates of %,.0f are there".formatted(there, expected));
    }
  }
}
