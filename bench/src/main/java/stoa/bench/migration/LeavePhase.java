package stoa.bench.migration;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import stoa.bench.load.Samples;
import stoa.bench.plot.Chart;
import stoa.bench.plot.Lines;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;

/// The cost of leaves and joins for the nodes that stay (self-service, section 8.2, Figure 11).
///
/// Each message takes a millisecond, by waiting: else all nodes would wait for the processors of
/// this machine, and those that leave would seem to make the others faster. Beside it the protocol
/// alone runs in simulated time, which no other program disturbs.
///
/// A single object goes round in some order of the nodes, which determines its speed, and which
/// each leave changes. So runs are not comparable with each other: nodes leave in the middle of
/// each of the [Blocks] of a run, and the report compares the counts of that time with the counts
/// around it.
final class LeavePhase {
  private static final double COST_MAX = 0.03;
  private static final int NODES_MAX = 40;
  private static final Duration MESSAGE = Duration.ofMillis(1);
  // In the order of their places nodes would pass a single object on by the shortest way, until the
  // first of them leaves. So they begin in a random order, which is each round's own.
  private static final Duration BEGIN = Duration.ofMillis(200);
  private static final List<Double> LEAVES = List.of(0.001, 0.005);
  private static final int MANY_OBJECTS = 3;
  private static final String STILL = ", nobody leaves";
  private static final String COST = ", fewer by";
  private static final String LATENCY = ", with and without leaves";
  // Figure 11: with 0.001 and 0.005; beside it those of Figure 9, where no node leaves.
  private static final String PAPER =
      """
      objects, kind                        nobody                0.001                0.005
      1 object, updates     108 [86,174]    343/s  110 [19,134]  324/s  115 [8,128]   298/s
      1 object, reads                              19 [0,63]   1,321/s  20 [0,79]   1,713/s
      50 objects, updates   23 [1,64]     1,314/s  20 [2,53]     996/s  24 [2,71]     885/s
      50 objects, reads                            19 [2,51]   1,279/s  19 [1,76]   1,151/s
      """;

  private final Context<MigrationScale> context;
  private final MigrationScale scale;
  private final int nodes;

  LeavePhase(Context<MigrationScale> context) {
    this.context = context;
    scale = context.sizes();
    nodes = Math.min(NODES_MAX, scale.nodesMost());
  }

  void measure(Findings findings) throws Exception {
    var counts = List.of(1, scale.objectsMost());
    var samples = new Samples();
    for (int round = 1; round <= scale.rounds(); round++) {
      for (int objects : counts) {
        for (double leave : LEAVES) measure(samples, round, objects, leave);
      }
    }
    findings.section(
        "Figure 11, %d nodes that leave and come back; messages take 1 ms, by waiting"
            .formatted(nodes),
        results(samples, counts));
    findings.matrix(
        "Figure 11 in the paper, 40 machines by Pr(leave): ms [5 %, 95 %], operations/s", PAPER);
    var simulated = new Samples();
    for (int seed = 1; seed <= scale.simulated(); seed++) {
      context.progress().accept("figure 11, simulated time, seed " + seed);
      for (int objects : counts) {
        for (double leave : LEAVES) {
          var seen = new SimulatedTree(nodes, objects, leave, blocks(objects), seed).run();
          keep(simulated, name(objects, leave), seen.blocks(), seen.leaves());
        }
      }
    }
    findings.section(
        "Figure 11 in simulated time: the protocol alone, messages of 1 ms, writes of 1 ms",
        results(simulated, counts));
    findings.figure("figure-11-leaves.svg", chart(samples, simulated, counts));
    judge(findings, "", samples, counts);
    judge(findings, " in simulated time", simulated, counts);
  }

  /// Returns the blocks. With several objects there are many more updates, and as many more leaves,
  /// in the same time.
  private Blocks blocks(int objects) {
    Blocks all = scale.leaveBlocks();
    int count = objects == 1 ? all.count() : Math.max(1, all.count() / MANY_OBJECTS);
    return new Blocks(count, all.quarter());
  }

  private void measure(Samples samples, int round, int objects, double leave) throws Exception {
    String name = name(objects, leave);
    context.progress().accept("figure 11, round %d: %s".formatted(round, name));
    var blocks = blocks(objects);
    var load =
        new NodeLoad(
            nodes,
            leave,
            blocks,
            BEGIN,
            round,
            NodeLoad.Mix.UPDATES_AND_READS,
            scale.leaveWarmUp(),
            blocks.time());
    var seen = TreePhase.run(context, load, objects, 1, MESSAGE);
    keep(samples, name, seen.blocks(), seen.leaves());
    TreePhase.keep(samples, name + LATENCY, seen);
  }

  private static void keep(Samples samples, String name, List<Blocks.Block> blocks, int leaves) {
    for (var block : blocks) {
      keep(samples, name + ", updates", block.on().updates(), block.off().updates());
      keep(samples, name + ", reads", block.on().reads(), block.off().reads());
    }
    samples.add(name + ", leaves", leaves);
  }

  private static void keep(Samples samples, String name, double leaving, double still) {
    samples.add(name, leaving);
    samples.add(name + STILL, still);
    samples.add(name + COST, 100 * (1 - leaving / still));
  }

  private static List<Result> results(Samples samples, List<Integer> counts) {
    List<Result> results = new ArrayList<>();
    for (int objects : counts) {
      for (double leave : LEAVES) {
        String name = name(objects, leave);
        for (var kind : List.of(name + ", updates", name + ", reads")) {
          results.add(
              Result.of(samples, kind, "/s").beside("nobody leaves", samples.median(kind + STILL)));
        }
        for (var kind : List.of("updates", "reads")) {
          if (!samples.has(name + LATENCY + ", " + kind)) continue; // simulated time has none
          for (var value : List.of(", mean", ", p5", ", p95")) {
            results.add(Result.of(samples, name + LATENCY + ", " + kind + value, "ms"));
          }
        }
        String cost = name + ", updates" + COST;
        var within = Samples.within(samples.of(cost));
        results.add(Result.of(samples, cost, "%"));
        results.add(Result.of(samples, name + ", reads" + COST, "%"));
        results.add(Result.alone(cost + ", at least", within.least(), "%"));
        results.add(Result.alone(cost + ", at most", within.most(), "%"));
        double leaves = samples.of(name + ", leaves").stream().mapToDouble(each -> each).sum();
        results.add(Result.alone(name + ", leaves", leaves, "leaves"));
      }
    }
    return results;
  }

  private Chart chart(Samples samples, Samples simulated, List<Integer> counts) {
    return new Chart(
        "Trivial objects while nodes leave and come back (Figure 11)",
        "%d nodes with one update and one read under way; messages take 1 ms".formatted(nodes),
        "operations per second",
        "part of the updates after which a node leaves",
        List.of(
            panel("real, messages wait", samples, counts),
            panel("simulated time", simulated, counts)));
  }

  private static Chart.Panel panel(String title, Samples samples, List<Integer> counts) {
    List<Chart.Tick> ticks = new ArrayList<>(List.of(new Chart.Tick(0, "0")));
    for (double leave : LEAVES) ticks.add(new Chart.Tick(ticks.size(), Double.toString(leave)));
    List<Chart.Series> series = new ArrayList<>();
    for (int objects : counts) {
      for (var kind : List.of(", updates", ", reads")) {
        List<Chart.Point> points = new ArrayList<>();
        points.add(new Chart.Point(0, samples.of(name(objects, LEAVES.getLast()) + kind + STILL)));
        for (double leave : LEAVES) {
          points.add(new Chart.Point(points.size(), samples.of(name(objects, leave) + kind)));
        }
        String label = (objects == 1 ? "1 object" : objects + " objects") + kind;
        series.add(new Chart.Series(label, Lines.look(series.size(), Chart.Line.FULL), points));
      }
    }
    return new Chart.Panel(title, ticks, series);
  }

  private static void judge(Findings findings, String how, Samples samples, List<Integer> counts) {
    for (int objects : counts) {
      for (double leave : LEAVES) {
        findings.atMost(
            "leaves and joins, Pr %s, %s%s: cost at most 3 %% of the updates"
                .formatted(leave, objects == 1 ? "1 object" : objects + " objects", how),
            COST_MAX,
            samples.median(name(objects, leave) + ", updates" + COST) / 100);
      }
    }
  }

  private static String name(int objects, double leave) {
    return String.format(
        Locale.ROOT, "%s, Pr(leave) %s", objects == 1 ? "1 object" : objects + " objects", leave);
  }
}
