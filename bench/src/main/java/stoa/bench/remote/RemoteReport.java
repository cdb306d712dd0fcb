package stoa.bench.remote;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import stoa.bench.load.Samples;
import stoa.bench.plot.Chart;
import stoa.bench.plot.Lines;
import stoa.bench.remote.RemoteContender.Operation;
import stoa.bench.remote.RemoteContender.Persistence;
import stoa.bench.report.Outcome;
import stoa.bench.report.Report;
import stoa.bench.report.Result;

/// The results of the remote benchmark, in the forms in which it shows and keeps them.
///
/// @param samples the measurements
/// @param names the contenders; the report compares the first one with the others
/// @param absent why contenders are left out, by contender and persistence
record RemoteReport(Samples samples, List<String> names, Map<String, String> absent) {
  private static final double RATE_AIM = 1.5;
  private static final double HOT_AIM = 50_000;
  private static final double CACHED_AIM = 1_000_000;
  private static final String P50 = ", p50";
  private static final String P99 = ", p99";

  /// A line of a table.
  private record Row(Persistence persistence, RemoteLoad load) {
    @Override
    public String toString() {
      return load + ", " + persistence;
    }
  }

  Outcome outcome() {
    return new Outcome(results(), table(), figures());
  }

  private String ours() {
    return names.getFirst();
  }

  private List<String> others() {
    return names.subList(1, names.size());
  }

  private static Stream<Row> rows() {
    return Stream.of(Persistence.values())
        .flatMap(persistence -> RemoteLoad.ALL.stream().map(load -> new Row(persistence, load)));
  }

  private static String name(Row row, String contender) {
    return RemoteRun.name(row.persistence, row.load, contender);
  }

  private boolean has(Row row, String contender) {
    return samples.has(name(row, contender));
  }

  private double median(Row row, String contender, String quantity) {
    return samples.median(name(row, contender) + quantity);
  }

  /// Returns the other contender with the least or the greatest of a quantity, as `choice`
  /// determines.
  private Optional<String> best(Row row, String quantity, BinaryOperator<Double> choice) {
    return others().stream()
        .filter(other -> has(row, other))
        .reduce((a, b) -> {
          double first = median(row, a, quantity);
          return choice.apply(first, median(row, b, quantity)) == first ? a : b;
        });
  }

  private Optional<String> fastest(Row row) {
    return best(row, "", Math::max);
  }

  /// Returns the ratio of this engine's quantity to another's, in the median of the rounds.
  private double ratio(Row row, String other, String quantity) {
    return samples.medianRatio(name(row, ours()) + quantity, name(row, other) + quantity);
  }

  /* Results: each measure alone, those of this engine beside the best other. */

  private List<Result> results() {
    var results = new ArrayList<Result>();
    for (Persistence persistence : Persistence.values()) {
      limits(persistence).forEach((measure, unit) -> results.add(result(measure, unit)));
    }
    var quantities = new LinkedHashMap<String, String>();
    quantities.put("", "calls/s");
    for (String quantity :
        List.of(P50, P99, RemoteRun.PROCESSOR, RemoteRun.SERVER, RemoteRun.CLIENT)) {
      quantities.put(quantity, "µs");
    }
    rows()
        .forEach(row -> {
          for (String name : names) {
            if (!has(row, name)) continue;
            quantities.forEach((quantity, unit) -> {
              Result result = result(name(row, name) + quantity, unit);
              Optional<String> best =
                  quantity.isEmpty() ? fastest(row) : best(row, quantity, Math::min);
              results.add(
                  best.filter(_ -> name.equals(ours()))
                      .map(other ->
                          result.beside(name(row, other) + quantity, median(row, other, quantity)))
                      .orElse(result));
            });
          }
        });
    return results;
  }

  private Result result(String measure, String unit) {
    return Result.of(samples, measure, unit);
  }

  private Map<String, String> limits(Persistence persistence) {
    var limits = new LinkedHashMap<String, String>();
    for (String limit :
        List.of(
            RemoteRun.ECHO,
            RemoteRun.PIPELINED_ECHO,
            RemoteRun.FORCE,
            RemoteRun.group(24),
            RemoteRun.group(240))) {
      String measure = RemoteRun.limit(limit, persistence);
      if (!samples.has(measure)) continue;
      limits.put(measure, "1/s");
      for (String quantile : List.of(P50, P99)) {
        if (samples.has(measure + quantile)) limits.put(measure + quantile, "µs");
      }
    }
    return limits;
  }

  /* Tables: a row for each load, a column for each contender. */

  private String table() {
    var text = new StringBuilder("limits\n");
    var limits = new ArrayList<Result>();
    for (Persistence persistence : Persistence.values()) {
      limits(persistence).forEach((measure, unit) -> limits.add(result(measure, unit)));
    }
    text.append(Report.table(limits)).append('\n');
    for (Persistence persistence : Persistence.values()) {
      text.append(rates(persistence));
      text.append(quantities("p50, µs", persistence, P50));
      text.append(quantities("p99, µs", persistence, P99));
      text.append(
          quantities(
              "processor time per call, server and client, µs", persistence, RemoteRun.PROCESSOR));
      text.append(quantities("processor time per call, server, µs", persistence, RemoteRun.SERVER));
    }
    if (!absent.isEmpty()) {
      text.append("left out\n");
      absent.forEach((what, why) -> text.append(what).append(": ").append(why).append('\n'));
      text.append('\n');
    }
    return text + aims();
  }

  private List<String> present(Persistence persistence) {
    return names.stream()
        .filter(
            name -> RemoteLoad.ALL.stream().anyMatch(load -> has(new Row(persistence, load), name)))
        .toList();
  }

  private String rates(Persistence persistence) {
    var rows = new ArrayList<List<String>>();
    rows.add(
        row(
            "",
            present(persistence).stream(),
            "limit",
            ours() + " ÷ best other",
            ours() + " ÷ limit"));
    for (RemoteLoad load : RemoteLoad.ALL) {
      var row = new Row(persistence, load);
      double limit = limit(row);
      rows.add(
          row(
              load.toString(),
              cells(row, persistence, ""),
              Report.number(limit),
              fastest(row)
                  .filter(_ -> has(row, ours()))
                  .map(other -> beside(ratio(row, other, ""), other))
                  .orElse(""),
              has(row, ours()) ? two(median(row, ours(), "") / limit) : ""));
    }
    return titled("calls per second, " + persistence, rows);
  }

  private String quantities(String title, Persistence persistence, String quantity) {
    var rows = new ArrayList<List<String>>();
    rows.add(row("", present(persistence).stream(), ours() + " ÷ least other"));
    for (RemoteLoad load : RemoteLoad.ALL) {
      var row = new Row(persistence, load);
      rows.add(
          row(
              load.toString(),
              cells(row, persistence, quantity),
              best(row, quantity, Math::min)
                  .filter(_ -> has(row, ours()))
                  .map(other -> beside(ratio(row, other, quantity), other))
                  .orElse("")));
    }
    return titled(title + ", " + persistence, rows);
  }

  private Stream<String> cells(Row row, Persistence persistence, String quantity) {
    return present(persistence).stream()
        .map(name -> has(row, name) ? Report.number(median(row, name, quantity)) : "");
  }

  /// Returns the limit of a contender that only sends bytes and forces them.
  private double limit(Row row) {
    Persistence persistence = row.persistence;
    RemoteLoad load = row.load;
    // Two calls of the client make one of `enq;deq`.
    int calls = load.operation() == Operation.QUEUE ? 2 : 1;
    boolean one = load.callers() == 1;
    double sent =
        samples.median(
            RemoteRun.limit(one ? RemoteRun.ECHO : RemoteRun.PIPELINED_ECHO, persistence));
    if (load.operation() == Operation.CACHED) return CACHED_AIM;
    if (persistence == Persistence.NONE) return sent / calls;
    String disk = one ? RemoteRun.FORCE : RemoteRun.group(load.callers());
    double forced = samples.median(RemoteRun.limit(disk, persistence));
    return (one ? 1 / (1 / sent + 1 / forced) : Math.min(sent, forced)) / calls;
  }

  private static String titled(String title, List<List<String>> rows) {
    var right = IntStream.range(1, rows.getFirst().size()).boxed().collect(Collectors.toSet());
    return title + "\n" + Report.lines(rows, Set.copyOf(right)) + "\n";
  }

  private static List<String> row(String title, Stream<String> cells, String... more) {
    return Stream.of(Stream.of(title), cells, Stream.of(more)).flatMap(part -> part).toList();
  }

  private static String beside(double ratio, String other) {
    return Double.isFinite(ratio) ? "%s (%s)".formatted(two(ratio), other) : "";
  }

  /// Returns a ratio, or nothing where one side was too small to measure.
  private static String two(double value) {
    return Double.isFinite(value) ? String.format(Locale.ROOT, "%.2f", value) : "";
  }

  /* Aims. */

  private String aims() {
    var rows = new ArrayList<List<String>>();
    rows.add(List.of("aim", "seen", "at", ""));
    for (Persistence persistence : Persistence.values()) {
      rates(persistence, row -> fastest(row).map(other -> ratio(row, other, "")))
          .min(Comparator.comparingDouble(Rated::value))
          .ifPresent(least ->
              rows.add(
                  aim(
                      "calls per second, %s: at least %s of the best other (least)"
                          .formatted(persistence, RATE_AIM),
                      least,
                      least.value >= RATE_AIM)));
      rates(persistence, row -> best(row, P99, Math::min).map(other -> ratio(row, other, P99)))
          .max(Comparator.comparingDouble(Rated::value))
          .ifPresent(most ->
              rows.add(
                  aim(
                      "p99, %s: at most that of the best other (most)".formatted(persistence),
                      most,
                      most.value <= 1)));
    }
    rows()
        .filter(row -> has(row, ours()))
        .forEach(row -> {
          var seen = new Rated(median(row, ours(), ""), row);
          boolean hot = row.load.operation() == Operation.INCREMENT && row.load.callers() == 240;
          if (hot && row.persistence == Persistence.SYNCED) {
            rows.add(aim("one hot counter: at least 50,000/s", seen, seen.value >= HOT_AIM));
          }
          if (row.load.operation() == Operation.CACHED) {
            rows.add(aim("cached reads: at least 1,000,000/s", seen, seen.value >= CACHED_AIM));
          }
        });
    return "aims\n" + Report.lines(rows, Set.of(1));
  }

  private record Rated(double value, Row row) {}

  /// Returns a value of each row of calls over the socket in which this engine has others beside
  /// it.
  private Stream<Rated> rates(Persistence persistence, Function<Row, Optional<Double>> value) {
    return rows()
        .filter(row -> row.persistence == persistence && row.load.operation() != Operation.CACHED)
        .filter(row -> has(row, ours()))
        .flatMap(row -> value.apply(row).map(seen -> new Rated(seen, row)).stream());
  }

  private static List<String> aim(String aim, Rated seen, boolean met) {
    return List.of(
        aim, Report.number(seen.value), seen.row.load.toString(), met ? "met" : "missed");
  }

  /* Figures. */

  private Map<String, String> figures() {
    var figures = new LinkedHashMap<String, String>();
    figures.put(
        "remote-calls.svg",
        chart(
            "Calls of one client over the loopback device",
            "24 threads, each calls again as soon as it is answered; every sample and the median",
            "calls per second",
            RemoteLoad.ALL.stream().filter(load -> load.callers() == 24).toList(),
            Map.of("", "")));
    var quantiles = new LinkedHashMap<String, String>();
    quantiles.put(P50, "p50");
    quantiles.put(P99, "p99");
    figures.put(
        "remote-latency.svg",
        chart(
            "Latency of calls over the loopback device",
            "one thread; every sample and the median",
            "µs",
            RemoteLoad.ALL.stream()
                .filter(load -> load.callers() == 1 && load.operation() != Operation.CACHED)
                .toList(),
            quantiles));
    return figures;
  }

  private String chart(
      String title,
      String note,
      String unit,
      List<RemoteLoad> loads,
      Map<String, String> quantities) {
    var panels = new ArrayList<Chart.Panel>();
    for (Persistence persistence : Persistence.values()) {
      var ticks = new ArrayList<Chart.Tick>();
      var series = new LinkedHashMap<String, List<Chart.Point>>();
      for (RemoteLoad load : loads) {
        for (var quantity : quantities.entrySet()) {
          int place = ticks.size();
          ticks.add(new Chart.Tick(place, tick(load, quantity.getValue())));
          var row = new Row(persistence, load);
          for (String name : names) {
            if (!has(row, name)) continue;
            series
                .computeIfAbsent(name, _ -> new ArrayList<>())
                .add(new Chart.Point(place, samples.of(name(row, name) + quantity.getKey())));
          }
        }
      }
      panels.add(
          new Chart.Panel(
              persistence.toString(),
              ticks,
              series.entrySet().stream()
                  .map(each ->
                      new Chart.Series(
                          each.getKey(),
                          Lines.look(names.indexOf(each.getKey()), Chart.Line.NONE),
                          each.getValue()))
                  .toList()));
    }
    return new Chart(title, note, unit, "what is called", panels).svg();
  }

  private static String tick(RemoteLoad load, String quantity) {
    boolean spread = load.operation() == Operation.INCREMENT && load.callers() > 1;
    String what = spread ? "%s\non %d".formatted(load.what(), load.counters()) : load.what();
    return quantity.isEmpty() ? what : what + "\n" + quantity;
  }
}
