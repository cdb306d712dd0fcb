package stoa.bench.curves;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLongArray;
import stoa.bench.load.Load;
import stoa.bench.load.Samples;
import stoa.bench.machine.DiskLimits;
import stoa.bench.plot.Chart;
import stoa.bench.plot.Lines;
import stoa.bench.remote.RemoteContender;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;
import stoa.bench.report.Report;
import stoa.bench.report.Result;
import stoa.programs.Directories;
import stoa.programs.Words;

/// Draws the micro-benchmarks of the AOF paper (Figures 4(b) and 4(c)) and the CRESON paper
/// (Figures 5(b) and 5(c)) as curves: `put`, `inc` and `enq;deq` on 1 to 100 objects by 1 to 24
/// callers.
public final class CurvesBenchmark implements Benchmark<CurvesScale> {
  private static final int VALUE_BYTES = 100;
  private static final String FORCE = "append and force";
  private static final String P50 = ", p50";

  /// The operations, with their names in the papers.
  enum Operation {
    PUT("put"),
    INCREMENT("inc"),
    QUEUE("enq;deq");

    private final String words;

    Operation(String words) {
      this.words = words;
    }

    @Override
    public String toString() {
      return words;
    }
  }

  /// Makes the benchmark.
  public CurvesBenchmark() {}

  @Override
  public String name() {
    return "curves";
  }

  @Override
  public String description() {
    return "calls by 1 to 24 callers on 1 to 100 objects of one server and of three, beside"
        + " Infinispan";
  }

  @Override
  public CurvesScale full() {
    return CurvesScale.full();
  }

  @Override
  public CurvesScale smoke() {
    return CurvesScale.smoke();
  }

  @Override
  public Outcome run(Context<CurvesScale> context) throws Exception {
    var contenders = new ArrayList<>(StoaCurves.ALL);
    ServiceLoader.load(CurveContender.class).forEach(contenders::add);
    return run(context, contenders);
  }

  /// Runs it with some contenders.
  static Outcome run(Context<CurvesScale> context, List<CurveContender> contenders)
      throws Exception {
    var findings = new Findings(context.sizes(), CurvesScale.full());
    var samples = new Samples();
    Map<String, String> absent = new LinkedHashMap<>();
    var order = new ArrayList<>(contenders);
    for (int round = 1; round <= context.sizes().rounds(); round++) {
      samples.add(FORCE, DiskLimits.appendAndForce(context.folder(), context.scale()));
      for (CurveContender contender : order) {
        context
            .progress()
            .accept(
                "round %d of %d: %s".formatted(round, context.sizes().rounds(), contender.name()));
        measure(context, contender, samples, absent);
      }
      Collections.rotate(order, 1);
    }
    var present =
        contenders.stream()
            .map(CurveContender::name)
            .filter(name -> !absent.containsKey(name))
            .toList();
    tell(findings, context.sizes(), samples, present);
    if (!absent.isEmpty()) {
      var text = new StringBuilder();
      absent.forEach((name, why) -> text.append(name).append(": ").append(why).append('\n'));
      findings.matrix("left out", text.toString());
    }
    return findings.outcome();
  }

  private static void measure(
      Context<CurvesScale> context,
      CurveContender contender,
      Samples samples,
      Map<String, String> absent)
      throws Exception {
    Path folder = Files.createDirectories(context.folder().resolve("curves"));
    CurvesScale sizes = context.sizes();
    String name = contender.name();
    try (var target = contender.start(folder)) {
      var increments = new AtomicLongArray(CurveContender.OBJECTS_MAX);
      int most = Collections.max(sizes.callers());
      for (Operation operation : Operation.values()) {
        var heat = new Load(most, Load.Threads.PLATFORM, sizes.heat(), sizes.time());
        var _ = heat.run(body(operation, target, Collections.max(sizes.objects()), increments));
      }
      for (Operation operation : Operation.values()) {
        for (int objects : sizes.objects()) {
          for (int callers : sizes.callers()) {
            var load = new Load(callers, Load.Threads.PLATFORM, sizes.warmUp(), sizes.time());
            samples.add(
                name(operation, objects, callers, name),
                load.run(body(operation, target, objects, increments)));
          }
        }
      }
      verify(name, target, increments);
    } catch (RemoteContender.Missing e) {
      absent.put(name, String.valueOf(e.getMessage()));
    } finally {
      Directories.delete(folder);
    }
  }

  private static Load.Body body(
      Operation operation, CurveContender.Target target, int objects, AtomicLongArray increments) {
    byte[] value = new byte[VALUE_BYTES];
    return switch (operation) {
      case PUT -> (caller, turn) -> target.put((caller + turn) % objects, value);
      case INCREMENT ->
          (caller, turn) -> {
            int counter = (caller + turn) % objects;
            var _ = target.increment(counter);
            var _ = increments.incrementAndGet(counter);
          };
      case QUEUE ->
          (caller, turn) -> {
            int queue = (caller + turn) % objects;
            target.enqueue(queue, turn);
            var _ = target.dequeue(queue);
          };
    };
  }

  /// Compares the counters with the answers.
  private static void verify(String name, CurveContender.Target target, AtomicLongArray increments)
      throws Exception {
    for (int counter = 0; counter < increments.length(); counter++) {
      long expected = increments.get(counter);
      long found = target.count(counter);
      if (found != expected) {
        throw new IllegalStateException(
            "%s: counter %d is at %,d after %,d increments"
                .formatted(name, counter, found, expected));
      }
    }
  }

  private static String name(Operation operation, int objects, int callers, String contender) {
    return "%s, %s, %s, %s"
        .formatted(
            operation, Words.count(objects, "object"), Words.count(callers, "caller"), contender);
  }

  private static void tell(
      Findings findings, CurvesScale sizes, Samples samples, List<String> contenders) {
    for (Operation operation : Operation.values()) {
      for (int objects : sizes.objects()) {
        String what = operation + " on " + Words.count(objects, "object");
        findings.matrix(
            what + ", calls/s", table(sizes, samples, contenders, operation, objects, ""));
        findings.matrix(
            what + ", p50 in µs", table(sizes, samples, contenders, operation, objects, P50));
      }
    }
    var results = new ArrayList<Result>();
    for (String measure : samples.measures()) {
      boolean isRate = !measure.endsWith(P50) && !measure.endsWith(", p99");
      results.add(Result.of(samples, measure, isRate ? "1/s" : "µs"));
    }
    findings.section("all measures", results);
    for (int objects : sizes.objects()) {
      findings.figure(
          "curves-calls-%d.svg".formatted(objects),
          chart(sizes, samples, contenders, objects, "calls per second", ""));
      findings.figure(
          "curves-latency-%d.svg".formatted(objects),
          chart(sizes, samples, contenders, objects, "p50 in µs", P50));
    }
  }

  private static String table(
      CurvesScale sizes,
      Samples samples,
      List<String> contenders,
      Operation operation,
      int objects,
      String quantity) {
    var rows = new ArrayList<List<String>>();
    var title = new ArrayList<>(List.of("callers"));
    title.addAll(contenders);
    rows.add(title);
    for (int callers : sizes.callers()) {
      var row = new ArrayList<>(List.of(Integer.toString(callers)));
      for (String contender : contenders) {
        String measure = name(operation, objects, callers, contender) + quantity;
        row.add(Report.number(samples.median(measure)));
      }
      rows.add(row);
    }
    var right = new Integer[contenders.size() + 1];
    Arrays.setAll(right, i -> i);
    return Report.lines(rows, Set.of(right));
  }

  private static Chart chart(
      CurvesScale sizes,
      Samples samples,
      List<String> contenders,
      int objects,
      String unit,
      String quantity) {
    var panels = new ArrayList<Chart.Panel>();
    for (Operation operation : Operation.values()) {
      var lines = new ArrayList<Lines.Line>();
      for (String contender : contenders) {
        lines.add(
            new Lines.Line(
                contender, callers -> name(operation, objects, callers, contender) + quantity));
      }
      panels.add(Lines.panel(operation.toString(), samples, sizes.callers(), lines, 1));
    }
    return new Chart(
        "Calls on " + Words.count(objects, "object") + " over the loopback device",
        "each caller calls again as soon as it is answered; every sample and the median",
        unit,
        "callers",
        panels);
  }
}
