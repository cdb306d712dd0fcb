package stoa.bench.csmr;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentMap;
import stoa.ShardedMap;
import stoa.Stoa;
import stoa.View;
import stoa.bench.load.Parallel;
import stoa.bench.load.Samples;
import stoa.bench.place.StorePlace;
import stoa.bench.plot.Chart;
import stoa.bench.plot.Lines;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;
import stoa.programs.Directories;

/// Clears composed maps and asks for their size (vCorfu, Figure 17).
final class WholePhase {
  private static final int CALLERS = 240;
  private static final int PER_CHILD = 2;
  private static final String IN_MEMORY = "in memory";
  private static final String LOCAL = "in memory, local view";
  private static final String OPENED = "opened anew";

  // The time in the paper's Figure 17 for 10,000 children without remote views, in milliseconds.
  private static final double PAPER_LOCAL = 30_000;

  private final Context<CsmrScale> context;
  private final StorePlace place;
  private final CsmrScale scale;

  WholePhase(Context<CsmrScale> context, StorePlace place) {
    this.context = context;
    this.place = place;
    scale = context.sizes();
  }

  void measure(Findings findings) throws Exception {
    var samples = new Samples();
    for (int children : scale.whole()) {
      Path folder = context.folder().resolve("whole");
      try {
        for (int round = 0; round < scale.rounds(); round++) {
          context.progress().accept("clearing a map of %,d children".formatted(children));
          measure(samples, folder, children);
        }
      } finally {
        Directories.delete(folder);
      }
    }
    tell(findings, samples);
  }

  private void measure(Samples samples, Path folder, int children) throws Exception {
    try (var opened = place.open(folder)) {
      var map = map(opened.stoa(), children);
      fill(map, children);
      clear(samples, IN_MEMORY, children, map);
      fill(map, children);
      clear(samples, LOCAL, children, local(opened.stoa(), map));
      fill(map, children);
    }
    if (!place.opensAgain()) {
      Directories.delete(folder);
      return;
    }
    try (var opened = place.open(folder)) {
      clear(samples, OPENED, children, map(opened.stoa(), children));
    }
  }

  private static ConcurrentMap<Integer, byte[]> map(Stoa stoa, int children) {
    return MapKind.shared(stoa, "map", children);
  }

  /// Returns the map through a local view, which has no child's state yet.
  private static ConcurrentMap<Integer, byte[]> local(
      Stoa stoa, ConcurrentMap<Integer, byte[]> map) {
    @SuppressWarnings("unchecked") // Justification: the map has these keys and values
    ConcurrentMap<Integer, byte[]> view =
        stoa.view(ShardedMap.class, stoa.ref(map), new View.Local());
    return view;
  }

  private static void fill(ConcurrentMap<Integer, byte[]> map, int children) throws Exception {
    Parallel.run(CALLERS, PER_CHILD * children, i -> map.put(i, new byte[8]));
  }

  private static void clear(
      Samples samples, String when, int children, ConcurrentMap<Integer, byte[]> map) {
    long start = System.nanoTime();
    map.clear();
    long cleared = System.nanoTime();
    int size = map.size();
    long end = System.nanoTime();
    if (size != 0) throw new IllegalStateException("%d are left".formatted(size));
    samples.add(name("clear then size", when, children), (end - start) / 1e6);
    samples.add(name("size", when, children), (end - cleared) / 1e6);
  }

  private void tell(Findings findings, Samples samples) {
    var results = new ArrayList<Result>();
    for (int children : scale.whole()) {
      for (String when : List.of(IN_MEMORY, LOCAL, OPENED)) {
        if (!samples.has(name("size", when, children))) continue;
        Result whole = Result.of(samples, name("clear then size", when, children), "ms");
        results.add(
            children == 10_000
                ? whole.beside("the paper, without remote views", PAPER_LOCAL)
                : whole);
        results.add(Result.of(samples, name("size", when, children), "ms"));
      }
    }
    findings.section(
        "clear and then size of a composed map, %d values per child, %s (Figure 17)"
            .formatted(PER_CHILD, place),
        results);
    findings.figure(
        "figure-17-whole.svg",
        new Chart(
            "Clear, then size",
            "both transactions over all children; %d values per child".formatted(PER_CHILD),
            "milliseconds",
            "children",
            List.of(
                Lines.panel(
                    "",
                    samples,
                    scale.whole(),
                    List.of(
                        new Lines.Line(IN_MEMORY, n -> name("clear then size", IN_MEMORY, n)),
                        new Lines.Line(LOCAL, n -> name("clear then size", LOCAL, n)),
                        new Lines.Line(OPENED, n -> name("clear then size", OPENED, n))),
                    0.01))));
  }

  private static String name(String what, String when, int children) {
    return "%s, %,d children, %s".formatted(what, children, when);
  }
}
