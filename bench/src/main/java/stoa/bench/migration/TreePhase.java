package stoa.bench.migration;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import stoa.Stoa;
import stoa.bench.load.Samples;
import stoa.bench.plot.Chart;
import stoa.bench.plot.Lines;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Matrix;
import stoa.bench.report.Result;
import stoa.migration.Domain;
import stoa.migration.Member;
import stoa.programs.Directories;

/// Migrates trivial objects (self-service, section 8.2, Figures 9 and 10). All nodes are members of
/// one process, without any simulation.
final class TreePhase {
  // Updates per second of Figure 9 with 50 objects and 70 nodes, and with 1.
  private static final double PAPER_MOST = 1_436;
  private static final double PAPER_ONE = 325;
  // Figure 9, by objects, on 10, 40 and 70 machines.
  private static final String PAPER_UPDATES =
      """
      objects                   10                     40                      70
            1  21 [14,38]    389/s  108 [86,174]    343/s  203 [167,312]    325/s
            2  12 [1,28]     683/s   56 [4,109]     638/s  107 [5,203]      599/s
            3   9 [1,24]     888/s   40 [8,81]      860/s   76 [12,141]     813/s
            4   8 [1,21]     945/s   33 [5,74]    1,024/s   60 [5,158]    1,011/s
            5   7 [1,22]     925/s   28 [3,79]    1,125/s   51 [6,107]    1,187/s
           30   5 [0,16]     976/s   23 [1,65]    1,457/s   39 [2,92]     1,478/s
           40   5 [0,16]   1,102/s   23 [1,46]    1,323/s   40 [2,96]     1,459/s
           50   6 [0,17]   1,171/s   23 [1,64]    1,314/s   37 [2,93]     1,436/s
      """;
  // The same for reads, on 10 and 70 machines.
  private static final String PAPER_READS =
      """
      objects                   10           70
            1   5 [1,14]   1,434/s  25  2,007/s
            2   5 [1,15]   1,412/s  26  1,956/s
            3   4 [1,12]   1,378/s  28  1,831/s
            4   5          1,272/s  29  1,774/s
            5   6 [1,15]   1,288/s  31  1,722/s
           30   6          1,156/s  29  1,602/s
           40   6 [1,17]     959/s  28  1,656/s
           50   6 [1,17]     932/s  31  1,633/s
      Reads alone are not shown there; by the text, reads of few objects then come near those of many.
      """;
  private static final String ALONE = ", reads alone";
  private static final double AIM = 10;

  private final Context<MigrationScale> context;
  private final MigrationScale scale;

  TreePhase(Context<MigrationScale> context) {
    this.context = context;
    scale = context.sizes();
  }

  void measure(Findings findings) throws Exception {
    int most = scale.nodesMost();
    run(new NodeLoad(most, 0, scale.warmUp(), scale.heat()), scale.objectsMost(), 1);
    single(findings);
    multi(findings);
  }

  /// A member that works on counters.
  private static final class Worker implements NodeLoad.Node {
    private final Domain domain;
    private final List<Tally> tallies;
    private final int together;
    private Member member;
    private List<Tally> here = List.of();

    Worker(Domain domain, List<Tally> tallies, int together) {
      this.domain = domain;
      this.tallies = tallies;
      this.together = together;
      member = join();
    }

    private Member join() {
      var joined = domain.join("node");
      here = tallies.stream().map(joined::on).toList();
      return joined;
    }

    @Override
    public void update(SplittableRandom random) {
      if (together == 1) {
        long _ = here.get(random.nextInt(here.size())).increment();
        return;
      }
      var some = some(random);
      long _ =
          member.<Long, RuntimeException>together(
              some, () -> some.stream().mapToLong(Tally::increment).sum());
    }

    @Override
    public void read(SplittableRandom random) {
      if (together == 1) {
        long _ = here.get(random.nextInt(here.size())).value();
        return;
      }
      var some = some(random);
      long _ =
          member.<Long, RuntimeException>together(
              some, () -> some.stream().mapToLong(Tally::value).sum());
    }

    private Collection<Tally> some(SplittableRandom random) {
      var numbers = new TreeSet<Integer>();
      while (numbers.size() < Math.min(together, tallies.size())) {
        numbers.add(random.nextInt(tallies.size()));
      }
      return numbers.stream().map(tallies::get).toList();
    }

    @Override
    public void rejoin() {
      member.close();
      member = join();
    }

    @Override
    public void close() {
      member.close();
    }
  }

  /// Loads new objects in a new store, and checks that no update was lost.
  private NodeLoad.Seen run(NodeLoad load, int objects, int together) throws Exception {
    return run(context, load, objects, together, Duration.ZERO);
  }

  /// Runs like the other method, with messages that take some time.
  static NodeLoad.Seen run(
      Context<MigrationScale> context, NodeLoad load, int objects, int together, Duration message)
      throws Exception {
    Path folder = context.folder().resolve("tree");
    try (var stoa = Stoa.open("file:" + folder)) {
      var domain = Domain.of(stoa);
      if (!message.isZero()) domain.delay(message);
      List<Tally> tallies = new ArrayList<>();
      for (int i = 0; i < objects; i++) {
        tallies.add(stoa.get(Tally.class, "tally-" + i));
        long _ = tallies.get(i).increment(); // there is a state to read
      }
      return load.run(_ -> new Worker(domain, tallies, together));
    } finally {
      Directories.delete(folder);
    }
  }

  static void keep(Samples samples, String at, NodeLoad.Seen seen) {
    keep(samples, at + ", updates", seen.updates());
    keep(samples, at + ", reads", seen.reads());
  }

  static void keep(Samples samples, String name, NodeLoad.Kind kind) {
    samples.add(name, kind.perSecond());
    samples.add(name + ", mean", kind.meanMillis());
    samples.add(name + ", p5", kind.p5Millis());
    samples.add(name + ", p95", kind.p95Millis());
  }

  // ---- Figure 9

  private void single(Findings findings) throws Exception {
    var samples = new Samples();
    for (int round = 1; round <= scale.rounds(); round++) {
      for (int nodes : scale.nodes()) {
        for (int objects : scale.objects()) {
          say("figure 9, round %d: %d nodes, %d objects", round, nodes, objects);
          var load = new NodeLoad(nodes, round, scale.warmUp(), scale.time());
          keep(samples, at(nodes, objects), run(load, objects, 1));
          var reads = run(load.with(NodeLoad.Mix.READS), objects, 1).reads();
          keep(samples, at(nodes, objects) + ALONE, reads);
        }
      }
    }
    for (var kind : List.of("updates", "reads")) {
      findings.matrix(
          "Figure 9, single-object %s of trivial objects, all nodes in one process".formatted(kind),
          Matrix.of(
              "objects",
              scale.objects(),
              "nodes",
              scale.nodes(),
              (objects, nodes) -> cell(samples, at(nodes, objects) + ", " + kind)));
    }
    findings.matrix(
        "Figure 9, single-object reads alone, without updates, all nodes in one process",
        Matrix.of(
            "objects",
            scale.objects(),
            "nodes",
            scale.nodes(),
            (objects, nodes) -> cell(samples, at(nodes, objects) + ALONE)));
    findings.matrix(
        "Figure 9 in the paper, updates by machines of 2006: ms [5 %, 95 %], updates/s",
        PAPER_UPDATES);
    findings.matrix(
        "Figure 9 in the paper, reads by machines of 2006: ms [5 %, 95 %], reads/s", PAPER_READS);
    int nodes = scale.nodesMost();
    int objects = scale.objectsMost();
    var updates = at(nodes, objects) + ", updates";
    findings.section(
        "Figure 9 beside the paper's 70 machines",
        List.of(
            Result.of(samples, updates, "/s").beside("the paper", PAPER_MOST),
            Result.of(samples, at(nodes, 1) + ", updates", "/s").beside("the paper", PAPER_ONE)));
    findings.atLeast(
        "updates of 50 trivial objects by 70 nodes: at least 10 times the paper's 1,436/s",
        AIM * PAPER_MOST,
        samples.median(updates));
    findings.figure("figure-9-single.svg", figure9(samples));
  }

  private static String at(int nodes, int objects) {
    return "%d nodes, %s".formatted(nodes, objects(objects));
  }

  private static String objects(int objects) {
    return objects + (objects == 1 ? " object" : " objects");
  }

  /// Returns a cell as in the paper: mean [5th percentile, 95th], and below it the throughput.
  static String cell(Samples samples, String name) {
    return "%s [%s,%s] %,.0f/s"
        .formatted(
            Matrix.millis(samples.median(name + ", mean")),
            Matrix.millis(samples.median(name + ", p5")),
            Matrix.millis(samples.median(name + ", p95")),
            samples.median(name));
  }

  private Chart figure9(Samples samples) {
    List<Chart.Panel> panels = new ArrayList<>();
    for (var kind : List.of("updates", "reads")) {
      var lines =
          scale.objects().reversed().stream()
              .filter(objects -> objects == 1 || objects == 5 || objects >= 30)
              .map(objects ->
                  new Lines.Line(objects(objects), nodes -> at(nodes, objects) + ", " + kind))
              .toList();
      panels.add(Lines.panel("single-object " + kind, samples, scale.nodes(), lines, 1));
    }
    return new Chart(
        "Trivial objects that migrate (Figure 9)",
        "each node has one update and one read under way; all in one process",
        "operations per second",
        "nodes",
        panels);
  }

  // ---- Figure 10

  private void multi(Findings findings) throws Exception {
    var samples = new Samples();
    int nodes = scale.nodesMost();
    var counts = scale.objects().stream().filter(each -> each >= 5).toList();
    for (int round = 1; round <= scale.rounds(); round++) {
      for (int objects : counts) {
        for (int together : scale.together()) {
          say("figure 10, round %d: %d of %d objects", round, together, objects);
          var load = new NodeLoad(nodes, round, scale.warmUp(), scale.time());
          keep(samples, multi(objects, together), run(load, objects, together));
        }
      }
    }
    findings.matrix(
        "Figure 10, multi-object updates of trivial objects by %d nodes, all in one process"
            .formatted(nodes),
        Matrix.of(
            "objects",
            counts,
            "objects per operation",
            scale.together(),
            (objects, together) -> cell(samples, multi(objects, together) + ", updates")));
    var lines =
        counts.reversed().stream()
            .map(objects ->
                new Lines.Line(
                    objects(objects), together -> multi(objects, together) + ", updates"))
            .toList();
    findings.figure(
        "figure-10-multi.svg",
        new Chart(
            "Updates of several trivial objects (Figure 10)",
            "%d nodes with one update and one read of as many objects under way".formatted(nodes),
            "updates per second",
            "objects per operation",
            List.of(Lines.panel("", samples, scale.together(), lines, 1))));
  }

  private static String multi(int objects, int together) {
    return "%d of %s".formatted(together, objects(objects));
  }

  private void say(String format, Object... parts) {
    context.progress().accept(format.formatted(parts));
  }
}
