package stoa.bench.migration;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import stoa.Placement;
import stoa.Stoa;
import stoa.bench.load.Pause;
import stoa.bench.load.Samples;
import stoa.bench.machine.CacheLine;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;
import stoa.migration.Domain;
import stoa.programs.Directories;

/// Compares the placements of objects: at the server, at the clients, and where it costs less. The
/// phase sweeps over the computing time of methods, the size of states and the callers; it
/// simulates computing by waiting, all else is real.
final class AutoPhase {
  static final double WORSE_MAX = 0.10;

  /// How long callers call objects with a fixed placement before it counts.
  static final Duration FIXED_SETTLE = Duration.ofMillis(500);

  private static final int NODES = 40;
  private static final long READ_NANOS = 50_000_000;

  private static final String CACHE_LINE = "a cache line from one processor to another and back";

  /// The callers of an object.
  enum Callers {
    /// All nodes.
    ALL_NODES,
    /// One node, as long as there are as many objects as nodes.
    ONE_NODE
  }

  /// A point of the sweep.
  record Point(int computeMillis, int stateBytes, Callers callers) {
    /// Returns all points.
    static List<Point> all(List<Integer> computeMillis, List<Integer> stateBytes) {
      List<Point> points = new ArrayList<>();
      for (int millis : computeMillis) {
        for (int bytes : stateBytes) {
          for (var callers : Callers.values()) points.add(new Point(millis, bytes, callers));
        }
      }
      return points;
    }

    /// Returns the objects that a node calls.
    List<Swept> of(List<Swept> all, int node) {
      return callers == Callers.ALL_NODES ? all : List.of(all.get(node % all.size()));
    }

    String name(Placement placement) {
      return "%d ms, %,d bytes, called by %s, %s"
          .formatted(
              computeMillis,
              stateBytes,
              callers == Callers.ALL_NODES ? "all" : "one",
              placement.name().toLowerCase(Locale.ROOT));
    }
  }

  private final Context<MigrationScale> context;
  private final MigrationScale scale;

  AutoPhase(Context<MigrationScale> context) {
    this.context = context;
    scale = context.sizes();
  }

  void measure(Findings findings) throws Exception {
    var points = Point.all(scale.computeMillis(), scale.stateBytes());
    var samples = new Samples();
    context.progress().accept("placement: all get warm");
    for (var placement : Placement.values()) {
      for (var point : points) {
        var _ = run(point, placement, Duration.ZERO, scale.placementHeat());
      }
    }
    for (int round = 1; round <= scale.placementRounds(); round++) {
      for (var point : points) {
        look(samples);
        for (var placement : inTurn(round)) {
          String name = point.name(placement);
          context.progress().accept("placement, round %d: %s".formatted(round, name));
          var settle = placement == Placement.AUTO ? scale.settle() : FIXED_SETTLE;
          samples.add(name, run(point, placement, settle, scale.settledTime()));
        }
      }
    }
    double worst =
        tell(
            findings,
            "placement, %d nodes; computing is waiting, all else is real".formatted(NODES),
            samples,
            points);
    findings.atMost(
        "AUTO: at most 10 % worse than the better fixed placement, at the worst point",
        WORSE_MAX, 1 - worst);
  }

  /// Measures the distance of the processors, which influences the results.
  static void look(Samples samples) throws InterruptedException {
    samples.add(CACHE_LINE, CacheLine.roundTripNanos());
  }

  /// Returns all placements, in another order in each round.
  static List<Placement> inTurn(int round) {
    List<Placement> all = new ArrayList<>(List.of(Placement.values()));
    Collections.rotate(all, round);
    return all;
  }

  /// Reports the measurements, each [Placement#AUTO] beside the better fixed one.
  ///
  /// @return the least ratio to it
  static double tell(Findings findings, String title, Samples samples, List<Point> points) {
    List<Result> results = new ArrayList<>();
    double worst = Double.POSITIVE_INFINITY;
    results.add(Result.of(samples, CACHE_LINE, "ns"));
    results.add(
        Result.alone(CACHE_LINE + ", least", Collections.min(samples.of(CACHE_LINE)), "ns"));
    results.add(Result.alone(CACHE_LINE + ", most", Collections.max(samples.of(CACHE_LINE)), "ns"));
    for (var point : points) {
      Map<Placement, Double> fixed = new EnumMap<>(Placement.class);
      for (var placement : List.of(Placement.SERVER, Placement.CLIENT)) {
        String name = point.name(placement);
        results.add(Result.of(samples, name, "/s"));
        fixed.put(placement, samples.median(name));
      }
      boolean isServer =
          fixed.getOrDefault(Placement.SERVER, 0.0) > fixed.getOrDefault(Placement.CLIENT, 0.0);
      var better = isServer ? Placement.SERVER : Placement.CLIENT;
      String auto = point.name(Placement.AUTO);
      results.add(
          Result.of(samples, auto, "/s")
              .beside(
                  better.name().toLowerCase(Locale.ROOT), fixed.getOrDefault(better, Double.NaN)));
      double ratio = samples.medianRatio(auto, point.name(better));
      double least = samples.leastRatio(auto, point.name(better));
      results.add(Result.alone(auto + ", median of the rounds' ratios", ratio, ""));
      results.add(Result.alone(auto + ", least of the rounds' ratios", least, ""));
      worst = Math.min(worst, ratio);
    }
    findings.section(title, results);
    return worst;
  }

  private double run(Point point, Placement placement, Duration settle, Duration time)
      throws Exception {
    Path folder = context.folder().resolve("placement");
    try (var stoa = Stoa.open("file:" + folder)) {
      List<Swept> all = new ArrayList<>();
      for (int i = 0; i < scale.objectsMost(); i++) {
        all.add(stoa.get(type(placement), "swept-" + i, point.stateBytes));
      }
      var load = new NodeLoad(NODES, 0, settle, time);
      var domain = Domain.of(stoa);
      return load.run(
              number -> {
                var member = domain.join("node");
                var some = point.of(all, number);
                var own =
                    placement == Placement.SERVER ? some : some.stream().map(member::on).toList();
                return new Caller(own, point, member::close);
              })
          .updates()
          .perSecond();
    } finally {
      Directories.delete(folder);
    }
  }

  /// Returns the class of objects with a placement.
  static Class<? extends Swept> type(Placement placement) {
    return switch (placement) {
      case SERVER -> Swept.AtServer.class;
      case CLIENT -> Swept.AtClients.class;
      case AUTO -> Swept.Anywhere.class;
    };
  }

  /// A caller of objects.
  ///
  /// @param left runs after each call
  record Caller(List<Swept> own, Point point, Runnable left) implements NodeLoad.Node {
    @Override
    public void update(SplittableRandom random) {
      var object = own.get(random.nextInt(own.size()));
      long nanos = point.computeMillis * 1_000_000L;
      long _ = Pause.atNode(() -> object.work(nanos));
    }

    @Override
    public void read(SplittableRandom random) {
      Pause.AT_CLIENT.accept(READ_NANOS);
    }

    @Override
    public void close() {
      left.run();
    }
  }
}
