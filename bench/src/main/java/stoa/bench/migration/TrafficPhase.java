package stoa.bench.migration;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeSet;
import stoa.Limits;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TxOptions;
import stoa.View;
import stoa.bench.load.Pause;
import stoa.bench.load.Samples;
import stoa.bench.plot.Chart;
import stoa.bench.plot.Distribution;
import stoa.bench.plot.Lines;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Matrix;
import stoa.bench.report.Result;
import stoa.classifier.Connection;
import stoa.classifier.Model;
import stoa.migration.Domain;
import stoa.migration.Member;
import stoa.programs.Directories;

/// Trains classifiers of traffic (self-service, section 8.3, Figures 12 to 14), by themselves and
/// beside the same service with its objects at the server.
///
/// The updates of Figure 12 are real. In Figures 13 and 14 a client's training is simulated by
/// waiting, since 70 clients would need 70 processors; states, messages and the store are real. So
/// is the server, except that its training waits too, for one of the machine's processors.
///
/// Clients also decode a state, read it and encode the new one; this work is real, all on the
/// processors of this machine. To hide that clients share these, the phase multiplies all their
/// waiting by a factor, and the counts by the same: a second of computing counts as a fraction of
/// one. The central service has this machine as it is.
///
/// Readers pause after each read, since 70 readers would use up the processors that 70 machines
/// would have for them. A part of Figure 13 is repeated with readers that do not.
final class TrafficPhase {
  private static final double AIM = 10;
  private static final long PAUSE_NANOS = 50_000_000;
  private static final int UNPAUSED_POINTS_MAX = 3;
  private static final String UNPAUSED = "unpaused, ";
  private static final Duration CALL_TIME_MAX = Duration.ofMinutes(2);

  private final Context<MigrationScale> context;
  private final MigrationScale scale;
  private final List<Connection> records;

  TrafficPhase(Context<MigrationScale> context) throws Exception {
    this.context = context;
    scale = context.sizes();
    records = Trained.records();
  }

  void measure(Findings findings) throws Exception {
    updates(findings);
    single(findings);
    multi(findings);
  }

  // ---- Figure 12

  private void updates(Findings findings) throws Exception {
    say("figure 12: %d updates by LIBSVM", scale.training());
    var all = Trained.train(scale.training(), records);
    var times = all.stream().map(each -> each.nanos() / 1e6).sorted().toList();
    var numbers = all.stream().map(each -> each.model().bytes() / 1e3).sorted().toList();
    var packed = new ArrayList<Double>();
    for (var each : all) packed.add(packedBytes(each.model()) / 1e3);
    packed.sort(null);
    List<Result> results = new ArrayList<>();
    tell(results, "update of %d records".formatted(Trained.RECORDS), times, "ms");
    tell(results, "numbers of the model", numbers, "KB");
    tell(results, "object with the model as it travels, compressed", packed, "KB");
    findings.section("Figure 12, updates by LIBSVM, one after the other", results);
    String note =
        "%d updates of one classifier with %d records each".formatted(all.size(), Trained.RECORDS);
    findings.figure(
        "figure-12-updates.svg",
        distributions(
            "Time of an update by LIBSVM",
            note,
            "milliseconds",
            "updates",
            Map.of("update", times)));
    var sizes = new LinkedHashMap<String, List<Double>>();
    sizes.put("numbers", numbers);
    sizes.put("compressed", packed);
    findings.figure(
        "figure-12-sizes.svg", distributions("Size of the model", note, "KB", "models", sizes));
  }

  private static Chart distributions(
      String title, String note, String unit, String counted, Map<String, List<Double>> sorted) {
    return new Chart(
        title + " (Figure 12)",
        note,
        unit,
        Distribution.AXIS.formatted(counted),
        List.of(Distribution.panel(sorted)));
  }

  private static void tell(List<Result> results, String measure, List<Double> sorted, String unit) {
    for (double part : List.of(0.1, 0.5, 0.9, 1.0)) {
      double value = Distribution.quantile(sorted, part);
      results.add(Result.alone(measure + ", " + percent(part), value, unit));
    }
  }

  /// Returns how many bytes a classifier with a model has on its way between nodes.
  private static long packedBytes(Model model) {
    try (var stoa = Stoa.open("memory:");
        var member = Domain.of(stoa).join("network")) {
      var classifier = member.on(stoa.get(Traffic.AtClients.class, "packed", 0));
      int _ = classifier.take(model);
      return member.stateBytes(classifier);
    }
  }

  private static String percent(double part) {
    return "%.0f %% within".formatted(100 * part);
  }

  // ---- nodes

  /// The training of a node of either design, and its work between reads: it classifies.
  private abstract class Trainer implements NodeLoad.Node {
    private final List<Connection> own;
    private final Point point;

    private Trainer(int number, Point point) {
      this.point = point;
      int from = number * Trained.RECORDS % (records.size() - Trained.RECORDS);
      own = records.subList(from, from + Trained.RECORDS);
    }

    List<Connection> own() {
      return own;
    }

    abstract void readNow(SplittableRandom random);

    @Override
    public void read(SplittableRandom random) {
      readNow(random);
    }

    @Override
    public void pause() {
      if (point.pauses) Pause.AT_CLIENT.accept(PAUSE_NANOS);
    }

    boolean isSingle() {
      return point.together == 1;
    }

    <T> Collection<T> some(List<T> all, SplittableRandom random) {
      var numbers = new TreeSet<Integer>();
      while (numbers.size() < point.together) numbers.add(random.nextInt(all.size()));
      return numbers.stream().map(all::get).toList();
    }
  }

  private final class SelfService extends Trainer {
    private final Member member;
    private final List<Traffic.AtClients> all;

    private SelfService(int number, Point point, Domain domain, List<Traffic.AtClients> all) {
      super(number, point);
      this.all = all;
      member = domain.join("network");
    }

    @Override
    public void update(SplittableRandom random) {
      if (isSingle()) {
        int _ = member.on(all.get(random.nextInt(all.size()))).update(own());
        return;
      }
      var some = some(all, random);
      int _ =
          member.<Integer, RuntimeException>together(
              some, () -> some.stream().mapToInt(each -> each.update(own())).sum());
    }

    @Override
    void readNow(SplittableRandom random) {
      if (isSingle()) {
        var _ = member.on(all.get(random.nextInt(all.size()))).model();
        return;
      }
      var some = some(all, random);
      var _ =
          member.<List<Model>, RuntimeException>together(
              some, () -> some.stream().map(Traffic::model).toList());
    }

    @Override
    public void close() {
      member.close();
    }
  }

  private final class Centralized extends Trainer {
    private final Stoa stoa;
    private final List<Traffic.AtServer> all;

    // The copies that its reads use; empty when these go to the objects.
    private final List<Traffic.AtServer> copies;

    private Centralized(int number, Point point, Stoa stoa, List<Traffic.AtServer> all) {
      super(number, point);
      this.stoa = stoa;
      this.all = all;
      copies =
          point.design == Design.CENTRAL
              ? List.of()
              : all.stream()
                  .map(each -> stoa.view(Traffic.AtServer.class, stoa.ref(each), new View.Cached()))
                  .toList();
    }

    @Override
    public void update(SplittableRandom random) {
      if (isSingle()) {
        int _ = all.get(random.nextInt(all.size())).update(own());
        return;
      }
      var some = some(all, random);
      int _ =
          stoa.<Integer, RuntimeException>transact(
              TxOptions.STANDARD.withTimeMax(CALL_TIME_MAX),
              () -> some.stream().mapToInt(each -> each.update(own())).sum());
    }

    @Override
    void readNow(SplittableRandom random) {
      if (!copies.isEmpty()) {
        // Each copy is the newest state of its object; several of them are of no common moment.
        for (var copy : some(copies, random)) {
          var _ = copy.model();
        }
        return;
      }
      if (isSingle()) {
        var _ = all.get(random.nextInt(all.size())).model();
        return;
      }
      var some = some(all, random);
      try (var snapshot = stoa.snapshot()) {
        some.forEach(each -> snapshot.on(each).model());
      }
    }
  }

  /// Where the objects are, and from where reads are answered.
  enum Design {
    /// At the clients.
    SELF_SERVICE("self-service"),
    /// At the server, which answers reads behind the updates of their object.
    CENTRAL("central"),
    /// At the server, which answers reads from copies, as the paper's does.
    CENTRAL_COPIES("central, reads from copies");

    private final String words;

    Design(String words) {
      this.words = words;
    }

    @Override
    public String toString() {
      return words;
    }
  }

  /// A point of a figure.
  ///
  /// @param together how many objects an operation has
  /// @param pauses whether readers pause after each read
  private record Point(Design design, int nodes, int together, boolean pauses) {}

  /// Returns the factor. The more objects an operation has, the fewer run at a time: there is less
  /// real computing.
  private int stretch(int together) {
    return Math.max(1, scale.stretch() / (together * together));
  }

  private NodeLoad.Seen run(Point point, int round) throws Exception {
    boolean isCentral = point.design != Design.SELF_SERVICE;
    int stretch = isCentral ? 1 : stretch(point.together);
    // The more objects an operation has, the fewer of them end in a second. A transaction of 70
    // callers waits for seconds until it is its turn to compute.
    long times = isCentral ? (long) point.together * point.together : point.together;
    var warmUp =
        isCentral && point.together > 1 ? scale.workTime() : scale.warmUp().multipliedBy(stretch);
    var load = new NodeLoad(point.nodes, round, warmUp, scale.workTime().multipliedBy(times));
    Pause.stretch(stretch);
    try {
      return run(load, point).faster(stretch);
    } finally {
      Pause.stretch(1);
    }
  }

  private NodeLoad.Seen run(NodeLoad load, Point point) throws Exception {
    Path folder = context.folder().resolve("traffic");
    var limits = Limits.standard().withCallTimeMax(CALL_TIME_MAX);
    try (var stoa = Stoa.open(StoaConfig.of("file:" + folder).withLimits(limits))) {
      int objects = scale.objectsMost();
      if (point.design != Design.SELF_SERVICE) {
        var all = objects(stoa, Traffic.AtServer.class, objects);
        for (var each : all) {
          int _ = each.take(Trained.of(0).model()); // there is a state to copy
        }
        return load.run(number -> new Centralized(number, point, stoa, all));
      }
      var domain = Domain.of(stoa);
      var all = objects(stoa, Traffic.AtClients.class, objects);
      return load.run(number -> new SelfService(number, point, domain, all));
    } finally {
      Directories.delete(folder);
    }
  }

  private static <T> List<T> objects(Stoa stoa, Class<T> type, int count) {
    List<T> all = new ArrayList<>();
    for (int i = 0; i < count; i++) all.add(stoa.get(type, "traffic-" + i, i));
    return all;
  }

  // ---- Figures 13 and 14

  private void single(Findings findings) throws Exception {
    var samples = new Samples();
    var unpaused = unpaused();
    for (int round = 1; round <= scale.trafficRounds(); round++) {
      for (int nodes : scale.nodes()) {
        for (var design : Design.values()) {
          say("figure 13, round %d: %d nodes, %s", round, nodes, design);
          keep(samples, design.toString(), nodes, run(new Point(design, nodes, 1, true), round));
          if (!unpaused.contains(nodes)) continue;
          say("figure 13, round %d: %d nodes, %s, unpaused reads", round, nodes, design);
          keep(samples, UNPAUSED + design, nodes, run(new Point(design, nodes, 1, false), round));
        }
      }
    }
    tell(findings, samples, "nodes", scale.nodes(), "13");
    for (var kind : List.of("updates", "reads")) {
      findings.matrix(
          "Figure 13, %s of classifiers while readers do not pause".formatted(kind),
          Matrix.of(
              "design",
              List.of(Design.values()),
              "nodes",
              unpaused,
              (design, place) -> TreePhase.cell(samples, at(UNPAUSED + design, place, kind))));
    }
    findings.matrix(
        "Figure 13 in the paper",
        """
        its curves have no numbers in the text; by it, updates of self-service are faster and more
        "by roughly an order of magnitude or more in all cases", up to 70 nodes; reads are alike
        """);
    int most = scale.nodesMost();
    findings.atLeast(
        "training by %d nodes: at least 10 times the central service's updates".formatted(most),
        AIM,
        samples.medianRatio(at("self-service", most, "updates"), at("central", most, "updates")));
  }

  /// Returns the numbers of nodes whose readers also read without pauses: the least, the most, and
  /// one between them.
  private List<Integer> unpaused() {
    var nodes = scale.nodes();
    if (nodes.size() <= UNPAUSED_POINTS_MAX) return nodes;
    return List.of(nodes.getFirst(), nodes.get(nodes.size() / 2), nodes.getLast());
  }

  private void multi(Findings findings) throws Exception {
    var samples = new Samples();
    int nodes = scale.nodesMost();
    for (int round = 1; round <= scale.trafficRounds(); round++) {
      for (int together : scale.together()) {
        for (var design : Design.values()) {
          say("figure 14, round %d: %d objects together, %s", round, together, design);
          var seen = run(new Point(design, nodes, together, true), round);
          keep(samples, design.toString(), together, seen);
        }
      }
    }
    tell(findings, samples, "objects per operation", scale.together(), "14");
    findings.matrix(
        "Figure 14 in the paper",
        """
        its curves have no numbers in the text; by it, updates become fewer with the objects of an
        operation, and stay many more than the central server's, whose reads are better
        """);
  }

  private static String at(String design, int place, String kind) {
    return "%s, %d, %s".formatted(design, place, kind);
  }

  private static void keep(Samples samples, String design, int place, NodeLoad.Seen seen) {
    TreePhase.keep(samples, at(design, place, "updates"), seen.updates());
    TreePhase.keep(samples, at(design, place, "reads"), seen.reads());
  }

  private void tell(
      Findings findings, Samples samples, String axis, List<Integer> places, String figure) {
    var rows = List.of(Design.values());
    for (var kind : List.of("updates", "reads")) {
      findings.matrix(
          "Figure %s, %s of classifiers; training is waiting, all else is real"
              .formatted(figure, kind),
          Matrix.of(
              "design",
              rows,
              axis,
              places,
              (design, place) -> TreePhase.cell(samples, at(design.toString(), place, kind))));
    }
    List<Result> results = new ArrayList<>();
    for (int place : places) {
      String own = Design.SELF_SERVICE.toString();
      for (var other : List.of(Design.CENTRAL, Design.CENTRAL_COPIES)) {
        for (var kind : List.of("updates", "reads")) {
          results.add(
              Result.of(samples, at(own, place, kind), "/s")
                  .beside(other.toString(), samples.median(at(other.toString(), place, kind))));
        }
      }
    }
    findings.section(
        "Figure %s, self-service beside the central service".formatted(figure), results);
    List<Chart.Panel> latencies = new ArrayList<>();
    List<Chart.Panel> rates = new ArrayList<>();
    List<Lines.Line> latencyLines = new ArrayList<>();
    List<Lines.Line> rateLines = new ArrayList<>();
    for (var kind : List.of("updates", "reads")) {
      for (var design : rows) {
        String name = design.toString();
        rateLines.add(new Lines.Line(name + ", " + kind, place -> at(name, place, kind)));
        latencyLines.add(
            new Lines.Line(name + ", " + kind, place -> at(name, place, kind) + ", mean"));
      }
    }
    latencies.add(Lines.panel("", samples, places, latencyLines, 0.01));
    rates.add(Lines.panel("", samples, places, rateLines, 0.1));
    String title = "Classifiers of traffic (Figure %s)".formatted(figure);
    String note =
        "%d objects; training waits as long as LIBSVM took".formatted(scale.objectsMost());
    findings.figure(
        "figure-%s-latency.svg".formatted(figure),
        new Chart(title, note, "milliseconds", axis, latencies));
    findings.figure(
        "figure-%s-throughput.svg".formatted(figure),
        new Chart(title, note, "operations per second", axis, rates));
  }

  private void say(String format, Object... parts) {
    context.progress().accept(format.formatted(parts));
  }
}
