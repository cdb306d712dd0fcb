package stoa.bench.storage;

import static stoa.bench.storage.StorageRun.RAW;
import static stoa.bench.storage.StorageRun.words;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import stoa.bench.plot.Chart;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;
import stoa.bench.report.Report;
import stoa.bench.report.Result;

/// Shows the measurements of a run of the storage benchmark: tables, aims and figures.
///
/// Immutable; the run must be over.
final class StorageReport {
  private static final String OURS = DeviceContender.NAME;

  private final StorageRun run;
  // The stores of long objects, in the order of the tables.
  private final List<String> stores;
  // The stores of small values.
  private final List<String> all;

  StorageReport(StorageRun run) {
    this.run = run;
    stores = run.objectStores().stream().map(Contender::name).toList();
    all = run.contenders().stream().map(Contender::name).toList();
  }

  Outcome outcome() {
    return new Outcome(results(), table(), figures());
  }

  /// One line of a table: a measure of every contender.
  private record Line(String title, Function<String, String> measure) {}

  private List<Line> sizes(Pattern pattern, Naming naming) {
    return run.scale().sizes().stream()
        .map(size -> new Line(words(size), name -> naming.of(pattern, size, name)))
        .toList();
  }

  private List<Line> small(int size) {
    return run.scale().callers().stream()
        .map(callers ->
            new Line(
                callers + (callers == 1 ? " caller" : " callers"),
                name -> SmallPhase.rate(size, callers, name)))
        .toList();
  }

  @FunctionalInterface
  private interface Naming {
    String of(Pattern pattern, int size, String contender);
  }

  private List<Result> results() {
    var results = new ArrayList<Result>();
    for (String measure : run.samples().measures()) {
      String unit =
          measure.startsWith("small")
              ? measure.endsWith("p50") || measure.endsWith("p99") ? "µs" : "1/s"
              : measure.contains("amplification") || measure.startsWith("bytes moved")
                  ? "bytes per byte"
                  : measure.startsWith("memory") ? "MiB" : "MiB/s";
      results.add(Result.of(run.samples(), measure, unit));
    }
    var beside = new LinkedHashMap<String, String>();
    bandwidthLines().forEach(line -> besides(line, stores, beside));
    SmallPhase.SIZES.forEach(size -> small(size).forEach(line -> besides(line, all, beside)));
    return results.stream()
        .map(result -> {
          String limit = beside.get(result.measure());
          return limit == null ? result : result.beside(limit, run.samples().median(limit));
        })
        .toList();
  }

  private void besides(Line line, List<String> names, Map<String, String> beside) {
    for (String name : names) beside.put(line.measure.apply(name), line.measure.apply(RAW));
  }

  private Stream<Line> bandwidthLines() {
    return Stream.of(Pattern.values())
        .flatMap(pattern ->
            Stream.concat(
                sizes(pattern, WritePhase::bandwidth).stream(),
                sizes(pattern, ReadPhase::bandwidth).stream()));
  }

  private String table() {
    var text = new StringBuilder();
    var legend = new ArrayList<List<String>>();
    legend.add(List.of(RAW, "a disk without an engine: one thread, direct synced blocks of 4 MiB"));
    for (Contender contender : run.contenders()) {
      legend.add(List.of(contender.name(), contender.how()));
    }
    text.append(Report.lines(legend, Set.of())).append('\n');
    for (Pattern pattern : Pattern.values()) {
      text.append(
          table(
              "write bandwidth, %s, MiB/s".formatted(pattern),
              sizes(pattern, WritePhase::bandwidth),
              stores));
    }
    text.append(
        "bare file without syncs in between: %s MiB/s%n%n"
            .formatted(Report.number(run.samples().median(WritePhase.UNSYNCED))));
    for (Pattern pattern : Pattern.values()) {
      text.append(
          table(
              "read bandwidth, %s, MiB/s".formatted(pattern),
              sizes(pattern, ReadPhase::bandwidth),
              stores));
    }
    for (int size : SmallPhase.SIZES) {
      text.append(table("small durable writes, %s, 1/s".formatted(words(size)), small(size), all));
    }
    text.append(orders());
    text.append(memory());
    for (Pattern pattern : Pattern.values()) {
      text.append(
          plain(
              "bytes sent to the disk per byte written, %s".formatted(pattern),
              sizes(pattern, WritePhase::amplification)));
    }
    for (Pattern pattern : Pattern.values()) {
      text.append(
          plain(
              "bytes fetched from the disk per byte read, %s".formatted(pattern),
              sizes(pattern, ReadPhase::amplification)));
    }
    return text + aims();
  }

  /// Returns a table of medians, with the ratios of the device to the bare file and to the best
  /// other.
  private String table(String title, List<Line> lines, List<String> names) {
    var rows = new ArrayList<List<String>>();
    rows.add(
        row(
            "",
            Stream.concat(Stream.of(RAW), names.stream()),
            OURS + " ÷ bare",
            OURS + " ÷ best other"));
    for (Line line : lines) {
      String best = best(line, names);
      rows.add(
          row(
              line.title,
              Stream.concat(Stream.of(RAW), names.stream())
                  .map(name -> Report.number(median(line, name))),
              ratio(beside(line, RAW)),
              best.isEmpty() ? "" : "%s (%s)".formatted(ratio(beside(line, best)), best)));
    }
    return titled(title, rows);
  }

  private String plain(String title, List<Line> lines) {
    String port = OURS + " at its disk port";
    var names = new ArrayList<>(stores);
    if (lines.stream().allMatch(line -> run.samples().has(line.measure.apply(port)))) {
      names.add(port);
    }
    var rows = new ArrayList<List<String>>();
    rows.add(row("", names.stream()));
    for (Line line : lines) {
      rows.add(row(line.title, names.stream().map(name -> ratio(median(line, name)))));
    }
    return titled(title, rows);
  }

  private String orders() {
    var rows = new ArrayList<List<String>>();
    rows.add(
        List.of(
            "written",
            "before",
            "after",
            "before ÷ linear",
            "after ÷ linear",
            "bytes moved per byte"));
    for (var order : OrderPhase.Order.all()) {
      rows.add(
          List.of(
              order.toString(),
              Report.number(orderMedian(order, OrderPhase.When.BEFORE)),
              Report.number(orderMedian(order, OrderPhase.When.AFTER)),
              ratio(orderRatio(order, OrderPhase.When.BEFORE)),
              ratio(orderRatio(order, OrderPhase.When.AFTER)),
              ratio(run.samples().median(OrderPhase.moved(order, OURS)))));
    }
    return titled(
        "%s, read linearly with 4 MiB, before and after reordering, MiB/s".formatted(OURS), rows);
  }

  private double orderMedian(OrderPhase.Order order, OrderPhase.When when) {
    return run.samples().median(OrderPhase.bandwidth(order, when, OURS));
  }

  /// Returns the ratio of the read rate to that of an object written from front to back.
  private double orderRatio(OrderPhase.Order order, OrderPhase.When when) {
    return run.samples()
        .medianRatio(OrderPhase.bandwidth(order, when, OURS), OrderPhase.beside(order, when, OURS));
  }

  private String memory() {
    var rows = new ArrayList<List<String>>();
    rows.add(row("", MemoryPhase.KINDS.stream()));
    for (String name : stores) {
      if (!run.samples().has(MemoryPhase.use(MemoryPhase.KINDS.getFirst(), name))) continue;
      rows.add(
          row(
              name,
              MemoryPhase.KINDS.stream()
                  .map(kind -> Report.number(run.samples().median(MemoryPhase.use(kind, name))))));
    }
    return titled("the most memory in use while writing and reading, MiB", rows);
  }

  private static String titled(String title, List<List<String>> rows) {
    if (rows.size() < 2) return "";
    var right = IntStream.range(1, rows.getFirst().size()).boxed().collect(Collectors.toSet());
    return title + "\n" + Report.lines(rows, Set.copyOf(right)) + "\n";
  }

  private static List<String> row(String title, Stream<String> cells, String... more) {
    return Stream.of(Stream.of(title), cells, Stream.of(more)).flatMap(part -> part).toList();
  }

  private double median(Line line, String name) {
    return run.samples().median(line.measure.apply(name));
  }

  /// Returns the ratio of the device to another, in the median of the rounds.
  private double beside(Line line, String other) {
    return run.samples().medianRatio(line.measure.apply(OURS), line.measure.apply(other));
  }

  /// Returns the best contender except the device, or nothing when there is none.
  private String best(Line line, List<String> names) {
    return names.stream()
        .filter(name -> !name.startsWith(OURS))
        .reduce("", (a, b) -> a.isEmpty() || median(line, b) > median(line, a) ? b : a);
  }

  private static String ratio(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }

  private String aims() {
    var rows = new ArrayList<List<String>>();
    rows.add(List.of("aim", "least seen", "at", ""));
    Predicate<Integer> all = _ -> true;
    rows.add(
        least(
            "writes ≥ 0.95 of the bare file, from 256 KiB",
            0.95,
            writes(size -> size >= 256 << 10),
            line -> RAW));
    List<String> rocks = stores.stream().filter(name -> name.contains("DB")).toList();
    if (!rocks.isEmpty()) {
      rows.add(least("writes ≥ RocksDB, every size", 1, writes(all), line -> best(line, rocks)));
      rows.add(
          least(
              "writes ≥ 3 × RocksDB, from 64 KiB",
              3,
              writes(size -> size >= 64 << 10),
              line -> best(line, rocks)));
      rows.add(
          least(
              "small durable writes ≥ RocksDB",
              1,
              SmallPhase.SIZES.stream()
                  .flatMap(size ->
                      small(size).stream()
                          .map(line -> new Line(words(size) + ", " + line.title, line.measure)))
                  .toList(),
              line -> best(line, rocks)));
    }
    rows.add(amplificationAim());
    rows.add(orderAim());
    return "aims\n" + Report.lines(rows, Set.of(1));
  }

  private List<Line> writes(Predicate<Integer> sizes) {
    var lines = new ArrayList<Line>();
    for (Pattern pattern : Pattern.values()) {
      for (int size : run.scale().sizes()) {
        if (!sizes.test(size)) continue;
        lines.add(
            new Line(
                "%s, %s".formatted(pattern, words(size)),
                name -> WritePhase.bandwidth(pattern, size, name)));
      }
    }
    return lines;
  }

  private List<String> least(
      String aim, double goal, List<Line> lines, Function<Line, String> beside) {
    double least = Double.POSITIVE_INFINITY;
    String at = "";
    for (Line line : lines) {
      double ratio = beside(line, beside.apply(line));
      if (ratio < least) {
        least = ratio;
        at = line.title;
      }
    }
    return List.of(aim, ratio(least), at, verdict(least >= goal));
  }

  private String verdict(boolean met) {
    return Findings.verdict(run.scale().equals(StorageScale.full()), met);
  }

  private List<String> amplificationAim() {
    double most = 0;
    String at = "";
    for (Pattern pattern : Pattern.values()) {
      for (int size : run.scale().sizes()) {
        double seen = run.samples().median(WritePhase.amplification(pattern, size, OURS));
        if (seen > most) {
          most = seen;
          at = "%s, %s".formatted(pattern, words(size));
        }
      }
    }
    return List.of(
        "bytes sent to the disk ≤ 2 per byte written (most seen)",
        ratio(most),
        at,
        verdict(most <= 2));
  }

  private List<String> orderAim() {
    double least = Double.POSITIVE_INFINITY;
    String at = "";
    for (var order : OrderPhase.Order.all()) {
      double ratio = orderRatio(order, OrderPhase.When.AFTER);
      if (ratio < least) {
        least = ratio;
        at = order.toString();
      }
    }
    return List.of(
        "reads after reordering ≥ 0.8 of what was written linearly",
        ratio(least),
        at,
        verdict(least >= 0.8));
  }

  private Map<String, String> figures() {
    var figures = new LinkedHashMap<String, String>();
    String operations = "%d concurrent operations; ".formatted(StorageRun.OPERATIONS);
    figures.put(
        "figure-3-write.svg",
        bandwidths(
            "Write bandwidth",
            operations + "each durable when it returns; every sample and the median",
            WritePhase::bandwidth));
    figures.put(
        "figure-4-read.svg",
        bandwidths(
            "Read bandwidth",
            operations + "data written with aligned 4 MiB, page cache dropped before each sample",
            ReadPhase::bandwidth));
    figures.put("figure-5-order.svg", orderFigure());
    figures.put("small-writes.svg", smallFigure());
    return figures;
  }

  private String bandwidths(String title, String note, Naming naming) {
    var panels = new ArrayList<Chart.Panel>();
    for (Pattern pattern : Pattern.values()) {
      var ticks = new ArrayList<Chart.Tick>();
      for (int size : run.scale().sizes()) {
        ticks.add(new Chart.Tick(Math.log(size), words(size)));
      }
      panels.add(
          new Chart.Panel(
              pattern.toString(),
              ticks,
              series(
                  stores,
                  name ->
                      run.scale().sizes().stream()
                          .map(size ->
                              new Chart.Point(
                                  Math.log(size), run.samples().of(naming.of(pattern, size, name))))
                          .toList())));
    }
    return new Chart(title, note, "MiB/s", "size of an access", panels).svg();
  }

  private String smallFigure() {
    var panels = new ArrayList<Chart.Panel>();
    for (int size : SmallPhase.SIZES) {
      var ticks = new ArrayList<Chart.Tick>();
      for (int callers : run.scale().callers()) {
        ticks.add(new Chart.Tick(Math.log(callers), Integer.toString(callers)));
      }
      panels.add(
          new Chart.Panel(
              "values of " + words(size),
              ticks,
              series(
                  all,
                  name ->
                      run.scale().callers().stream()
                          .map(callers ->
                              new Chart.Point(
                                  Math.log(callers),
                                  run.samples().of(SmallPhase.rate(size, callers, name))))
                          .toList())));
    }
    return new Chart(
            "Small durable writes",
            "each value durable before its caller writes the next",
            "values per second",
            "concurrent callers",
            panels)
        .svg();
  }

  private String orderFigure() {
    var orders = OrderPhase.Order.all();
    var ticks = new ArrayList<Chart.Tick>();
    for (int i = 0; i < orders.size(); i++) {
      ticks.add(
          new Chart.Tick(
              i, orders.get(i).toString().replaceFirst(" ", "\n").replaceFirst(" ", "\n")));
    }
    var series = new ArrayList<Chart.Series>();
    var linear = new ArrayList<Chart.Point>();
    for (int i = 0; i < orders.size(); i++) {
      var samples = new ArrayList<Double>();
      for (var when : OrderPhase.When.values()) {
        samples.addAll(run.samples().of(OrderPhase.beside(orders.get(i), when, OURS)));
      }
      linear.add(new Chart.Point(i, samples));
    }
    series.add(
        new Chart.Series(
            "linear, beside",
            new Chart.Look("#999999", Chart.Shape.CROSS, Chart.Line.DASHED),
            linear));
    for (var when : OrderPhase.When.values()) {
      boolean before = when == OrderPhase.When.BEFORE;
      var points = new ArrayList<Chart.Point>();
      for (int i = 0; i < orders.size(); i++) {
        points.add(
            new Chart.Point(
                i + (before ? -0.14 : 0.14),
                run.samples().of(OrderPhase.bandwidth(orders.get(i), when, OURS))));
      }
      series.add(
          new Chart.Series(
              before ? "as written" : "reordered",
              before
                  ? new Chart.Look("#0072B2", Chart.Shape.SQUARE, Chart.Line.NONE)
                  : new Chart.Look("#D55E00", Chart.Shape.CIRCLE, Chart.Line.NONE),
              points));
    }
    return new Chart(
            "Reading what was written in different orders",
            "%s; linear reads of 4 MiB, %d at a time, page cache dropped before each sample"
                .formatted(OURS, StorageRun.OPERATIONS),
            "MiB/s",
            "how the data was written",
            List.of(new Chart.Panel("", ticks, series)))
        .svg();
  }

  private List<Chart.Series> series(
      List<String> names, Function<String, List<Chart.Point>> points) {
    return Stream.concat(Stream.of(RAW), names.stream())
        .map(name -> new Chart.Series(name, look(names.indexOf(name), name), points.apply(name)))
        .toList();
  }

  private static Chart.Look look(int index, String name) {
    if (name.equals(RAW)) return new Chart.Look("#555555", Chart.Shape.CROSS, Chart.Line.DASHED);
    if (name.equals(OURS)) {
      return new Chart.Look("#D55E00", Chart.Shape.CIRCLE, Chart.Line.STRONG);
    }
    if (name.startsWith(OURS)) {
      boolean records = name.endsWith("records");
      return new Chart.Look(
          records ? "#000000" : "#8B3A00",
          records ? Chart.Shape.CIRCLE : Chart.Shape.DIAMOND,
          Chart.Line.FULL);
    }
    var colours = List.of("#0072B2", "#56B4E9", "#009E73", "#E69F00", "#CC79A7");
    var shapes =
        List.of(
            Chart.Shape.SQUARE,
            Chart.Shape.DIAMOND,
            Chart.Shape.UP,
            Chart.Shape.DOWN,
            Chart.Shape.PENTAGON);
    int i = Math.floorMod(index, colours.size());
    return new Chart.Look(colours.get(i), shapes.get(i), Chart.Line.FULL);
  }
}
