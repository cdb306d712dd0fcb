package stoa.bench.csmr;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
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

/// Opens maps with many values, and reads one (vCorfu, Figure 16, top).
final class OpenPhase {
  private static final int VALUE_BYTES = 1 << 10;
  private static final int KEYS = 100_000;
  private static final int CALLERS = 240;

  // The time of an opening in the paper with 100 MB of updates, in milliseconds.
  private static final double PAPER_PLAIN = 10_000;

  private static final double PAPER_COMPOSED = 70;

  private final Context<CsmrScale> context;
  private final StorePlace place;
  private final CsmrScale scale;

  OpenPhase(Context<CsmrScale> context, StorePlace place) {
    this.context = context;
    this.place = place;
    scale = context.sizes();
  }

  /// The choice of keys.
  enum Keys {
    UNIFORM("uniform"),
    ZIPF("Zipf");

    final String text;

    Keys(String text) {
      this.text = text;
    }

    Zipf over(int keys) {
      return this == UNIFORM ? Zipf.uniform(keys) : Zipf.skewed(keys);
    }
  }

  void measure(Findings findings) throws Exception {
    if (!place.opensAgain()) return;
    var samples = new Samples();
    for (Keys keys : Keys.values()) {
      for (MapKind kind : MapKind.all(scale.children())) {
        // For a plain map that is played back, one choice of keys shows everything.
        if (kind.local() && keys == Keys.ZIPF) continue;
        Path folder = context.folder().resolve("open");
        try {
          measure(samples, kind, keys, folder);
        } finally {
          Directories.delete(folder);
        }
      }
    }
    tell(findings, samples);
  }

  private void measure(Samples samples, MapKind kind, Keys keys, Path folder) throws Exception {
    Zipf zipf = keys.over(KEYS);
    var random = new SplittableRandom(16);
    byte[] value = new byte[VALUE_BYTES];
    random.nextBytes(value);
    int inserted = 0;
    int some = 0;
    for (int inserts : scale.inserts()) {
      context
          .progress()
          .accept("%s, %s keys, %,d inserts".formatted(kind.text(), keys.text, inserts));
      int[] more = new int[inserts - inserted];
      for (int i = 0; i < more.length; i++) more[i] = zipf.next(random);
      try (var opened = place.open(folder)) {
        MapKind.Opened map = kind.open(opened.stoa());
        Parallel.run(CALLERS, more.length, i -> map.put(more[i], value));
      }
      inserted = inserts;
      some = more[more.length / 2];
      for (int i = 0; i < scale.opens(); i++) {
        try (var opened = place.open(folder)) {
          long start = System.nanoTime();
          byte[] found = kind.open(opened.stoa()).get(some);
          samples.add(name(kind, keys, inserts), (System.nanoTime() - start) / 1e6);
          if (found == null || found.length != VALUE_BYTES) {
            throw new IllegalStateException("key %d is not in the map".formatted(some));
          }
        }
      }
    }
  }

  private void tell(Findings findings, Samples samples) {
    int most = scale.inserts().getLast();
    int composed = scale.children().getLast();
    for (Keys keys : Keys.values()) {
      var results = new ArrayList<Result>();
      for (MapKind kind : MapKind.all(scale.children())) {
        var plain = new MapKind(0, kind.local());
        for (int inserts : scale.inserts()) {
          String name = name(kind, keys, inserts);
          if (!samples.has(name)) continue;
          String beside = name(plain, keys, inserts);
          Result result = Result.of(samples, name, "ms");
          results.add(
              kind.children() > 0
                  ? result.beside(beside, samples.median(beside))
                  : inserts == 100_000
                      ? result.beside("the paper's plain map, local view", PAPER_PLAIN)
                      : result);
        }
      }
      findings.section(
          "first read of a map opened anew, values of 1 KiB under %s keys, %s (Figure 16, top)"
              .formatted(keys.text, place),
          results);
    }
    double worst = 0;
    for (Keys keys : Keys.values()) {
      for (boolean local : new boolean[] {false, true}) {
        String name = name(new MapKind(composed, local), keys, most);
        if (samples.has(name)) worst = Math.max(worst, samples.median(name));
      }
    }
    findings.atMost(
        "first read of a map of %,d children after %,d MiB of updates, ms: at most 70"
            .formatted(composed, most >> 10),
        PAPER_COMPOSED,
        worst);
    for (boolean local : new boolean[] {false, true}) {
      findings.atLeast(
          "plain ÷ composed of %,d, %s: at least 1 (the paper: 150)"
              .formatted(composed, local ? "local views" : "remote views"),
          1,
          samples.median(name(new MapKind(0, local), Keys.UNIFORM, most))
              / samples.median(name(new MapKind(composed, local), Keys.UNIFORM, most)));
    }
    findings.figure("figure-16-open.svg", figure(samples));
  }

  private Chart figure(Samples samples) {
    var panels = new ArrayList<Chart.Panel>();
    for (Map.Entry<String, Boolean> panel :
        List.of(Map.entry("remote view", false), Map.entry("local view", true))) {
      var lines = new ArrayList<Lines.Line>();
      for (MapKind kind : MapKind.all(scale.children())) {
        if (kind.local() != panel.getValue()) continue;
        lines.add(new Lines.Line(kind.shape(), inserts -> name(kind, Keys.UNIFORM, inserts)));
      }
      panels.add(Lines.panel(panel.getKey(), samples, scale.inserts(), lines, 0.01));
    }
    return new Chart(
        "First read of a map opened anew",
        "values of 1 KiB under uniform keys; the store was closed and opened before each read",
        "milliseconds",
        "values inserted",
        panels);
  }

  private static String name(MapKind kind, Keys keys, int inserts) {
    return "%s, %s, %,d inserts".formatted(kind.text(), keys.text, inserts);
  }
}
