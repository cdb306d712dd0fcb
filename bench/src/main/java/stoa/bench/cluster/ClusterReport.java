package stoa.bench.cluster;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;
import stoa.bench.load.Samples;
import stoa.bench.plot.Chart;
import stoa.bench.plot.Lines;
import stoa.bench.remote.RemoteRun;
import stoa.bench.report.Findings;
import stoa.bench.report.Markdown;
import stoa.bench.report.Outcome;
import stoa.bench.report.Report;
import stoa.bench.report.Result;

/// The results of the cluster benchmark, as Markdown and a figure.
///
/// One thread uses it.
final class ClusterReport {
  private static final double HOT_AIM = 120_000;
  private static final double LATENCY_AIM = 1.6;
  private static final double ORDER_AIM = 0.9;
  private static final double SILENCE_AIM_MILLIS = 1_000;
  private static final double KILLED_AIM_MILLIS = 500;

  /// Aims beside a peer.
  ///
  /// @param counters how many times as many calls of 24 callers on 100 counters
  /// @param records how many times as many calls of YCSB
  private record Aims(double counters, double records) {}

  private static final Map<String, Aims> PEERS =
      Map.of("Infinispan", new Aims(1.2, 1), "Infinispan, on disk", new Aims(3, 2));

  /// The kinds of this engine's counters.
  static final String ONE = "Stoa";

  static final String STREAM = "Stoa, 3 groups, `STREAM`";
  static final String GLOBAL = "Stoa, 3 groups, `GLOBAL`";
  static final String BARE = "Ratis, batched";

  private final boolean judged;
  private final Samples samples = new Samples();
  private final Map<String, String> guarantees = new LinkedHashMap<>();
  private final Map<String, String> conditions = new LinkedHashMap<>();
  private List<String> kinds = List.of();
  private List<String> keepers = List.of();
  private final List<String> workloads = new ArrayList<>();
  private final List<String> silences = new ArrayList<>();
  private final List<String> further = new ArrayList<>();
  private final Map<String, String> figures = new LinkedHashMap<>();
  private OptionalLong refusedInGrowth = OptionalLong.empty();

  /// @param scale of the run: the report judges aims at the full one only
  ClusterReport(ClusterScale scale) {
    judged = scale.equals(ClusterScale.full());
  }

  /// Returns the measurements so far.
  Samples samples() {
    return samples;
  }

  void guarantee(String contender, String words) {
    guarantees.put(contender, words);
  }

  /// Notes how busy the machine was with other work during a part.
  void conditions(String part, String words) {
    conditions.put(part, words);
  }

  void kinds(List<String> names) {
    kinds = List.copyOf(names);
  }

  void recordKeepers(List<String> names) {
    keepers = List.copyOf(names);
  }

  void workload(String name) {
    workloads.add(name);
  }

  /// Notes a kind of failure, of which [SilencePhase#middle] and [SilencePhase#longest] are
  /// samples.
  void silence(String failure) {
    if (!silences.contains(failure)) silences.add(failure);
  }

  /// Notes how many calls the servers refused while one server became three.
  void grown(long refused) {
    refusedInGrowth = OptionalLong.of(refused);
  }

  /// Adds a part's own table.
  void section(String markdown) {
    further.add(markdown);
  }

  /// Adds a part's own figure.
  void figure(String file, Chart chart) {
    figures.put(file, chart.svg());
  }

  Outcome outcome() {
    var text = new StringBuilder();
    if (!kinds.isEmpty()) text.append(calls());
    text.append(records());
    text.append(silence());
    further.forEach(text::append);
    text.append(aims());
    if (!kinds.isEmpty()) figures.put("cluster-calls.svg", figure());
    return new Outcome(results(), text.toString(), figures);
  }

  private String calls() {
    return promises()
        + table("calls per second", "", 0)
        + table("p50, ms", ", p50", 1e-3)
        + table("p99, ms", ", p99", 1e-3)
        + table("processor time per call, servers and client, µs", ClusterRun.PROCESSOR, 0)
        + table("KiB that the disk of all servers writes per call", ClusterRun.WRITTEN, 0)
        + limits();
  }

  private String titled(String title, String part) {
    String words = conditions.get(part);
    return words == null ? title : "%s (%s)".formatted(title, words);
  }

  private String promises() {
    var rows = new ArrayList<List<String>>();
    rows.add(List.of("", "where a change is when it is answered"));
    guarantees.forEach((name, words) -> rows.add(List.of(name, words)));
    return Markdown.table("What is compared", rows);
  }

  // ---- calls

  private String table(String title, String quantity, double factor) {
    var rows = new ArrayList<List<String>>();
    boolean rates = quantity.isEmpty();
    var more = rates ? Stream.of("`GLOBAL` ÷ `STREAM`", ONE + " ÷ " + BARE) : Stream.<String>of();
    rows.add(Stream.of(Stream.of(""), kinds.stream(), more).flatMap(s -> s).toList());
    for (ClusterLoad load : ClusterLoad.ALL) {
      var cells = new ArrayList<>(List.of(load.toString()));
      for (String kind : kinds) {
        String measure = ClusterRun.name(load, kind) + quantity;
        double value = samples.has(measure) ? samples.median(measure) : Double.NaN;
        cells.add(cell(factor == 0 ? value : value * factor));
      }
      if (rates) {
        cells.add(ratio(load, GLOBAL, STREAM));
        cells.add(ratio(load, ONE, BARE));
      }
      rows.add(cells);
    }
    return Markdown.table(titled(title, "calls"), rows);
  }

  private static String cell(double value) {
    return Double.isFinite(value) ? Report.number(value) : "";
  }

  private String ratio(ClusterLoad load, String kind, String other) {
    String one = ClusterRun.name(load, kind);
    String two = ClusterRun.name(load, other);
    return samples.has(one) && samples.has(two) ? two(samples.medianRatio(one, two)) : "";
  }

  private static String two(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }

  private String limits() {
    var rows = new ArrayList<List<String>>();
    rows.add(List.of("limit", "1/s", "p50, ms", "p99, ms"));
    for (String limit :
        List.of(
            RemoteRun.ECHO,
            RemoteRun.FORCE,
            ClusterRun.MAJORITY,
            RemoteRun.group(24),
            RemoteRun.group(240))) {
      if (!samples.has(limit)) continue;
      rows.add(
          List.of(
              limit,
              cell(samples.median(limit)),
              cell(samples.median(limit + ", p50") * 1e-3),
              cell(samples.median(limit + ", p99") * 1e-3)));
    }
    return Markdown.table("One machine and disk, without objects", rows);
  }

  // ---- records

  private String records() {
    if (workloads.isEmpty()) return "";
    var rows = new ArrayList<List<String>>();
    var head = new ArrayList<>(List.of("YCSB, 24 callers"));
    for (String keeper : keepers) head.addAll(List.of(keeper + ", 1/s", "p50, ms", "p99, ms"));
    for (String other : others()) head.add(keepers.getFirst() + " ÷ " + other);
    rows.add(head);
    for (String workload : workloads) {
      var row = new ArrayList<>(List.of(workload));
      for (String keeper : keepers) {
        String measure = ClusterRun.workload(workload, keeper);
        row.add(cell(samples.median(measure)));
        row.add(cell(samples.median(measure + ", p50") * 1e-3));
        row.add(cell(samples.median(measure + ", p99") * 1e-3));
      }
      for (String other : others()) row.add(two(recordsRatio(workload, other)));
      rows.add(row);
    }
    return Markdown.table(titled("Records", "YCSB"), rows);
  }

  private List<String> others() {
    return keepers.isEmpty() ? List.of() : keepers.subList(1, keepers.size());
  }

  private double recordsRatio(String workload, String other) {
    return samples.medianRatio(
        ClusterRun.workload(workload, keepers.getFirst()), ClusterRun.workload(workload, other));
  }

  // ---- failures

  private String silence() {
    if (silences.isEmpty()) return "";
    var rows = new ArrayList<List<String>>();
    rows.add(
        List.of(
            "what happens",
            "times",
            "middle caller, median",
            "unluckiest caller, median",
            "worst"));
    for (String failure : silences) {
      List<Double> longest = samples.of(SilencePhase.longest(failure));
      rows.add(
          List.of(
              failure,
              "" + longest.size(),
              millis(samples.median(SilencePhase.middle(failure))),
              millis(samples.median(SilencePhase.longest(failure))),
              millis(longest.stream().mapToDouble(d -> d).max().orElse(Double.NaN))));
    }
    return Markdown.table(
        titled("The longest time for which a caller is not answered", "failures"), rows);
  }

  private static String millis(double millis) {
    return "%,.0f ms".formatted(millis);
  }

  // ---- aims

  private String aims() {
    var rows = new ArrayList<List<String>>();
    rows.add(List.of("aim", "seen", ""));
    latency(rows);
    atLeast(
        rows,
        "one hot counter, 240 callers: at least %,.0f/s".formatted(HOT_AIM),
        HOT_AIM,
        rate(ClusterLoad.HOT));
    for (String kind : kinds) {
      Aims aims = PEERS.get(kind);
      if (aims == null) continue;
      atLeast(
          rows,
          "%s ÷ %s: at least %s".formatted(ClusterLoad.SOME, kind, Report.number(aims.counters)),
          aims.counters,
          samples.medianRatio(
              ClusterRun.name(ClusterLoad.SOME, ONE), ClusterRun.name(ClusterLoad.SOME, kind)));
    }
    for (ClusterLoad load : ClusterLoad.ALL) {
      String one = ClusterRun.name(load, GLOBAL);
      String two = ClusterRun.name(load, STREAM);
      if (!samples.has(one) || !samples.has(two)) continue;
      atLeast(
          rows,
          "`GLOBAL` ÷ `STREAM`, %s: at least 0.9".formatted(load),
          ORDER_AIM,
          samples.medianRatio(one, two));
    }
    for (String other : others()) {
      Aims aims = PEERS.get(other);
      if (aims == null) continue;
      for (String workload : workloads) {
        atLeast(
            rows,
            "YCSB %s ÷ %s: at least %s".formatted(workload, other, Report.number(aims.records)),
            aims.records,
            recordsRatio(workload, other));
      }
    }
    silences(rows);
    refusedInGrowth.ifPresent(refused ->
        rows.add(
            List.of(
                "one server becomes three: no refused call",
                "" + refused,
                Findings.verdict(judged, refused == 0))));
    if (rows.size() == 1) return "";
    return Markdown.table("Aims", rows);
  }

  private void latency(List<List<String>> rows) {
    String call = ClusterRun.name(ClusterLoad.ONE, ONE) + ", p50";
    String limit = ClusterRun.MAJORITY + ", p50";
    if (!samples.has(call) || !samples.has(limit)) return;
    double times = samples.medianRatio(call, limit);
    rows.add(
        List.of(
            "p50 of one caller ÷ that of a bare append to a majority: at most 1.6",
            two(times),
            Findings.verdict(judged, times <= LATENCY_AIM)));
  }

  private void silences(List<List<String>> rows) {
    for (String failure : silences) {
      double median = samples.median(SilencePhase.longest(failure));
      double worst =
          samples.of(SilencePhase.longest(failure)).stream()
              .mapToDouble(d -> d)
              .max()
              .orElse(Double.NaN);
      if (failure.endsWith(SilencePhase.KILLED)) {
        rows.add(
            List.of(
                failure + ": at most 500 ms for the unluckiest in the median, 1 s at the worst",
                "%s, %s".formatted(millis(median), millis(worst)),
                Findings.verdict(
                    judged, median <= KILLED_AIM_MILLIS && worst <= SILENCE_AIM_MILLIS)));
      } else {
        rows.add(
            List.of(
                failure + ": at most 1 s for the unluckiest in the median",
                millis(median),
                Findings.verdict(judged, median <= SILENCE_AIM_MILLIS)));
      }
    }
  }

  private double rate(ClusterLoad load) {
    String measure = ClusterRun.name(load, ONE);
    return samples.has(measure) ? samples.median(measure) : Double.NaN;
  }

  private void atLeast(List<List<String>> rows, String aim, double goal, double seen) {
    if (!Double.isFinite(seen)) return;
    rows.add(List.of(aim, Report.number(seen), Findings.verdict(judged, seen >= goal)));
  }

  // ---- everything, and the figure

  private List<Result> results() {
    var results = new ArrayList<Result>();
    for (String measure : samples.measures()) {
      results.add(Result.of(samples, measure, unit(measure)));
    }
    return results;
  }

  private static String unit(String measure) {
    if (measure.contains(", p50") || measure.contains(", p99")) return "µs";
    if (measure.endsWith(ClusterRun.PROCESSOR)) return "µs";
    if (measure.endsWith(ClusterRun.WRITTEN)) return "KiB";
    return measure.startsWith(SilencePhase.NAME) ? "ms" : "1/s";
  }

  private String figure() {
    var ticks = new ArrayList<Chart.Tick>();
    var series = new ArrayList<Chart.Series>();
    for (ClusterLoad load : ClusterLoad.ALL) {
      ticks.add(new Chart.Tick(ticks.size(), load.toString().replace(", ", "\n")));
    }
    for (int i = 0; i < kinds.size(); i++) {
      var points = new ArrayList<Chart.Point>();
      for (int place = 0; place < ClusterLoad.ALL.size(); place++) {
        String measure = ClusterRun.name(ClusterLoad.ALL.get(place), kinds.get(i));
        if (samples.has(measure)) points.add(new Chart.Point(place, samples.of(measure)));
      }
      String name = kinds.get(i).replace("`", "");
      series.add(new Chart.Series(name, Lines.look(i, Chart.Line.NONE), points));
    }
    return new Chart(
            "Calls of one client to three servers on one machine",
            "each calls again as soon as it is answered; every sample and the median",
            "calls per second",
            "what is called",
            List.of(new Chart.Panel("counters", ticks, series)))
        .svg();
  }
}
