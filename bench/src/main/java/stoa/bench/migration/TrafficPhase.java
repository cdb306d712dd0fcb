package stoa.bench.migration;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import stoa.Limits;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TxOptions;
import stoa.bench.load.Pause;
import stoa.bench.load.Samples;
import stoa.bench.plot.Chart;
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
final class TrafficPhase {
  private static final double AIM = 10;
  private static final long PAUSE_NANOS = 50_000_000;
  private static final int CENTRAL_TIMES = 3;
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
    var sizes = all.stream().map(each -> each.model().bytes() / 1e3).sorted().toList();
    List<Result> results = new ArrayList<>();
    for (double part : List.of(0.1, 0.5, 0.9, 1.0)) {
      results.add(
          Result.alone(
              "update of %d records, %s".formatted(Trained.RECORDS, percent(part)),
              quantile(times, part),
              "ms"));
    }
    for (double part : List.of(0.1, 0.5, 0.9, 1.0)) {
      results.add(
          Result.alone("numbers of the model, " + percent(part), quantile(sizes, part), "KB"));
    }
    findings.section("Figure 12, updates by LIBSVM, one after the other", results);
  }

  private static String percent(double part) {
    return "%.0f %% within".formatted(100 * part);
  }

  private static double quantile(List<Double> values, double part) {
    return values.get((int) Math.ceil(part * values.size()) - 1);
  }

  // ---- nodes

  /// The training of a node of either design, and its work between reads: it classifies.
  private abstract class Trainer implements NodeLoad.Node {
    private final List<Connection> own;

    private Trainer(int number) {
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
      Pause.AT_CLIENT.accept(PAUSE_NANOS);
    }

    <T> Collection<T> some(List<T> all, int count, SplittableRandom random) {
      var numbers = new TreeSet<Integer>();
      while (numbers.size() < count) numbers.add(random.nextInt(all.size()));
      return numbers.stream().map(all::get).toList();
    }
  }

  private final class SelfService extends Trainer {
    private final Member member;
    private final List<Traffic.AtClients> all;
    private final int together;

    private SelfService(int number, Domain domain, List<Traffic.AtClients> all, int together) {
      super(number);
      this.all = all;
      this.together = together;
      member = domain.join("network");
    }

    @Override
    public void update(SplittableRandom random) {
      if (together == 1) {
        int _ = member.on(all.get(random.nextInt(all.size()))).update(own());
        return;
      }
      var some = some(all, together, random);
      int _ =
          member.<Integer, RuntimeException>together(
              some, () -> some.stream().mapToInt(each -> each.update(own())).sum());
    }

    @Override
    void readNow(SplittableRandom random) {
      if (together == 1) {
        var _ = member.on(all.get(random.nextInt(all.size()))).model();
        return;
      }
      var some = some(all, together, random);
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
    private final int together;

    private Centralized(int number, Stoa stoa, List<Traffic.AtServer> all, int together) {
      super(number);
      this.stoa = stoa;
      this.all = all;
      this.together = together;
    }

    @Override
    public void update(SplittableRandom random) {
      if (together == 1) {
        int _ = all.get(random.nextInt(all.size())).update(own());
        return;
      }
      var some = some(all, together, random);
      int _ =
          stoa.<Integer, RuntimeException>transact(
              TxOptions.STANDARD.withTimeMax(CALL_TIME_MAX),
              () -> some.stream().mapToInt(each -> each.update(own())).sum());
    }

    @Override
    void readNow(SplittableRandom random) {
      if (together == 1) {
        var _ = all.get(random.nextInt(all.size())).model();
        return;
      }
      var some = some(all, together, random);
      try (var snapshot = stoa.snapshot()) {
        some.forEach(each -> snapshot.on(each).model());
      }
    }
  }

  /// Returns the factor. The more objects an operation has, the fewer run at a time: there is less
  /// real computing.
  private int stretch(int together) {
    return Math.max(1, scale.stretch() / (together * together));
  }

  private NodeLoad.Seen run(int nodes, boolean central, int together) throws Exception {
    int stretch = central ? 1 : stretch(together);
    var load = new NodeLoad(nodes, scale.warmUp().multipliedBy(stretch), scale.workTime());
    // A transaction of 70 callers waits for seconds until it is its turn to compute.
    if (central && together > 1) {
      load = new NodeLoad(nodes, scale.workTime(), scale.workTime().multipliedBy(CENTRAL_TIMES));
    }
    Pause.stretch(stretch);
    try {
      return run(load, central, together).faster(stretch);
    } finally {
      Pause.stretch(1);
    }
  }

  private NodeLoad.Seen run(NodeLoad load, boolean central, int together) throws Exception {
    Path folder = context.folder().resolve("traffic");
    var limits = Limits.standard().withCallTimeMax(CALL_TIME_MAX);
    try (var stoa = Stoa.open(StoaConfig.of("file:" + folder).withLimits(limits))) {
      int objects = scale.objectsMost();
      if (central) {
        var all = objects(stoa, Traffic.AtServer.class, objects);
        return load.run(number -> new Centralized(number, stoa, all, together));
      }
      var domain = Domain.of(stoa);
      var all = objects(stoa, Traffic.AtClients.class, objects);
      return load.run(number -> new SelfService(number, domain, all, together));
    } finally {
      Directories.delete(folder);
    }
  }

  private static <T> List<T> objects(Stoa stoa, Class<T> type, int count) {
    List<T> all = new ArrayList<>();
    for (int i = 0; i < count; i++) all.add(stoa.get(type, "traffic-" + i, i));
    return all;
  }

  private static String name(boolean central) {
    return central ? "central" : "self-service";
  }

  // ---- Figures 13 and 14

  private void single(Findings findings) throws Exception {
    var samples = new Samples();
    for (int round = 1; round <= scale.trafficRounds(); round++) {
      for (int nodes : scale.nodes()) {
        for (boolean central : List.of(false, true)) {
          say("figure 13, round %d: %d nodes, %s", round, nodes, name(central));
          keep(samples, name(central), nodes, run(nodes, central, 1));
        }
      }
    }
    tell(findings, samples, "nodes", scale.nodes(), "13");
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

  private void multi(Findings findings) throws Exception {
    var samples = new Samples();
    int nodes = scale.nodesMost();
    for (int round = 1; round <= scale.trafficRounds(); round++) {
      for (int together : scale.together()) {
        for (boolean central : List.of(false, true)) {
          say("figure 14, round %d: %d objects together, %s", round, together, name(central));
          keep(samples, name(central), together, run(nodes, central, together));
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
    var rows = List.of("self-service", "central");
    for (var kind : List.of("updates", "reads")) {
      findings.matrix(
          "Figure %s, %s of classifiers; training is waiting, all else is real"
              .formatted(figure, kind),
          Matrix.of(
              "design",
              rows,
              axis,
              places,
              (design, place) -> TreePhase.cell(samples, at(design, place, kind))));
    }
    List<Result> results = new ArrayList<>();
    for (int place : places) {
      var own = at("self-service", place, "updates");
      var central = at("central", place, "updates");
      results.add(Result.of(samples, own, "/s").beside("central", samples.median(central)));
    }
    findings.section("Figure %s, updates beside the central service".formatted(figure), results);
    List<Chart.Panel> latencies = new ArrayList<>();
    List<Chart.Panel> rates = new ArrayList<>();
    List<Lines.Line> latencyLines = new ArrayList<>();
    List<Lines.Line> rateLines = new ArrayList<>();
    for (var kind : List.of("updates", "reads")) {
      for (var design : rows) {
        rateLines.add(new Lines.Line(design + ", " + kind, place -> at(design, place, kind)));
        latencyLines.add(
            new Lines.Line(design + ", " + kind, place -> at(design, place, kind) + ", mean"));
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
