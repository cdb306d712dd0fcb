package stoa.bench.csmr;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;
import stoa.Aborted;
import stoa.Stoa;
import stoa.TxOptions;
import stoa.bench.load.Load;
import stoa.bench.load.Parallel;
import stoa.bench.load.Samples;
import stoa.bench.load.Zipf;
import stoa.bench.place.StorePlace;
import stoa.bench.plot.Chart;
import stoa.bench.plot.Lines;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;
import stoa.programs.Directories;

/// Transactions of two reads and one write on maps, by several writers (vCorfu, Figure 16, bottom).
final class ConflictPhase {
  private static final int CALLERS = 240;

  // The percentage of aborted transactions in the paper, with 1,000 children.
  private static final double PAPER = 2;

  // The aim, in percent.
  private static final double AIM = 0.1;

  private final Context<CsmrScale> context;
  private final StorePlace place;
  private final CsmrScale scale;
  private final List<Integer> shapes = new ArrayList<>();

  ConflictPhase(Context<CsmrScale> context, StorePlace place) {
    this.context = context;
    this.place = place;
    scale = context.sizes();
    shapes.add(0);
    shapes.addAll(scale.children());
  }

  void measure(Findings findings) throws Exception {
    Path folder = context.folder().resolve("conflicts");
    try (var opened = place.open(folder)) {
      var stoa = opened.stoa();
      Map<String, Samples.Probe> probes = new LinkedHashMap<>();
      for (int children : shapes) {
        var map = MapKind.shared(stoa, "map of " + children, children);
        context.progress().accept("filling a map of " + children);
        Parallel.run(CALLERS, scale.keys(), i -> map.put(i, new byte[8]));
        for (OpenPhase.Keys keys : OpenPhase.Keys.values()) {
          Zipf zipf = keys.over(scale.keys());
          for (int writers : scale.writers()) {
            String name = name(children, keys, writers);
            probes.put(name, samples -> sample(samples, name, stoa, map, zipf, writers));
          }
        }
      }
      tell(findings, Samples.interleaved(scale.rounds(), probes, context.progress()));
    } finally {
      Directories.delete(folder);
    }
  }

  private void sample(
      Samples samples,
      String name,
      Stoa stoa,
      ConcurrentMap<Integer, byte[]> map,
      Zipf zipf,
      int writers)
      throws Exception {
    var aborted = new LongAdder();
    var tried = new LongAdder();
    var once = TxOptions.STANDARD.withAttemptsMax(1);
    var load = new Load(writers, Load.Threads.PLATFORM, Duration.ZERO, scale.time());
    SplittableRandom[] randoms = load.randoms(writers);
    Load.Seen seen =
        load.run((writer, turn) -> {
          SplittableRandom random = randoms[writer];
          int first = zipf.next(random);
          int second = zipf.next(random);
          int third = zipf.next(random);
          tried.increment();
          try {
            stoa.transact(
                once,
                () -> {
                  byte[] read = map.get(first);
                  byte[] other = map.get(second);
                  if (read == null || other == null) throw new IllegalStateException("no value");
                  var _ = map.put(third, new byte[] {read[0], other[0], (byte) turn});
                  return true;
                });
          } catch (Aborted lost) {
            aborted.increment();
          }
        });
    double part = (double) aborted.sum() / tried.sum();
    samples.add(name, 100 * part);
    samples.add(name + ", committed", seen.callsPerSecond() * (1 - part));
  }

  private void tell(Findings findings, Samples samples) {
    for (OpenPhase.Keys keys : OpenPhase.Keys.values()) {
      var results = new ArrayList<Result>();
      for (int children : shapes) {
        for (int writers : scale.writers()) {
          String name = name(children, keys, writers);
          Result result = Result.of(samples, name, "%");
          results.add(
              children == 1_000 && writers == 16 ? result.beside("the paper", PAPER) : result);
          results.add(Result.of(samples, name + ", committed", "1/s"));
        }
      }
      findings.section(
          "aborted of durable transactions with two reads and a write on %,d %s keys, %s (Figure 16, bottom)"
              .formatted(scale.keys(), keys.text, place),
          results);
    }
    // Skewed keys meet on one key, whatever the composition of the map.
    int most = scale.writers().getLast();
    for (int children : List.of(shapes.getFirst(), shapes.getLast())) {
      findings.atMost(
          "aborted of %s, %d writers, uniform keys, %%: at most 0.1 (the paper: 2)"
              .formatted(children == 0 ? "one map" : "%,d children".formatted(children), most),
          AIM,
          samples.median(name(children, OpenPhase.Keys.UNIFORM, most)));
    }
    var panels = new ArrayList<Chart.Panel>();
    for (OpenPhase.Keys keys : OpenPhase.Keys.values()) {
      var lines = new ArrayList<Lines.Line>();
      for (int children : shapes) {
        lines.add(
            new Lines.Line(
                new MapKind(children, false).shape(), writers -> name(children, keys, writers)));
      }
      panels.add(Lines.panel(keys.text, samples, scale.writers(), lines, 0.01));
    }
    findings.figure(
        "figure-16-aborts.svg",
        new Chart(
            "Aborted transactions on maps",
            "two reads and a write, durable; nothing aborted is drawn at 0.0001",
            "part that is aborted",
            "writers",
            panels));
  }

  private static String name(int children, OpenPhase.Keys keys, int writers) {
    return "%s, %s keys, %d writer%s"
        .formatted(
            new MapKind(children, false).shape(), keys.text, writers, writers == 1 ? "" : "s");
  }
}
