package stoa.bench.tx;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import stoa.Stoa;
import stoa.TxOptions;
import stoa.bench.load.Latencies;
import stoa.bench.load.Parallel;
import stoa.bench.load.Samples;
import stoa.bench.place.StorePlace;
import stoa.bench.plot.Chart;
import stoa.bench.plot.Lines;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;
import stoa.programs.Directories;

/// A writer that records views of pages beside a long analysis, which reads all pages as of one
/// moment, again and again (vCorfu, Figure 15).
final class AnalysisPhase {
  private static final long PERIOD_NANOS = 100_000;
  private static final String PACED = "10,000 views/s wanted";
  private static final String FLAT_OUT = "as many as can be";
  private static final String LONG = "views recorded beside an analysis that goes on";
  private static final int LONG_PARTS = 30;
  private static final int CALLERS = 64;

  // A transaction that asks a server 10,000 times takes longer than the standard allows.
  private static final TxOptions ALL_PAGES =
      TxOptions.reading()
          .withTimeMax(Duration.ofMinutes(1))
          .withTotalTimeMax(Duration.ofMinutes(2));

  private final Context<TxScale> context;
  private final StorePlace place;
  private final TxScale scale;

  AnalysisPhase(Context<TxScale> context, StorePlace place) {
    this.context = context;
    this.place = place;
    scale = context.sizes();
  }

  void measure(Findings findings) throws Exception {
    Map<String, Samples.Probe> probes = new LinkedHashMap<>();
    for (String pace : List.of(PACED, FLAT_OUT)) {
      for (boolean beside : new boolean[] {false, true}) {
        String name = name(pace, beside);
        probes.put(
            name,
            samples -> {
              // A new store each time: a memory store keeps its whole log.
              Path folder = context.folder().resolve("analysis");
              try (var opened = place.openInMemory(folder)) {
                sample(samples, opened.stoa(), pace, beside);
              } finally {
                Directories.delete(folder);
              }
            });
      }
    }
    var samples = Samples.interleaved(scale.rounds(), probes, context.progress());
    context.progress().accept(LONG);
    try (var opened = place.openInMemory(context.folder().resolve("analysis"))) {
      sampleLong(samples, opened.stoa());
    }
    tell(findings, samples);
  }

  private void sample(Samples samples, Stoa stoa, String pace, boolean beside) throws Exception {
    var pages = pages(stoa);
    var random = new SplittableRandom(15);
    long period = pace.equals(PACED) ? PERIOD_NANOS : 0;
    if (place != StorePlace.EMBEDDED) write(pages, 0, scale.servedWarmUp(), random);
    try (var analysis = new Analysis(stoa, pages)) {
      if (beside) analysis.begin();
      write(pages, period, scale.warmUp(), random);
      long before = analysis.read.get();
      long start = System.nanoTime();
      Latencies latencies = write(pages, period, scale.time(), random);
      double seconds = (System.nanoTime() - start) / 1e9;
      keep(samples, name(pace, beside), latencies, seconds);
      if (beside) samples.add(read(pace), (analysis.read.get() - before) / seconds);
    }
  }

  private static void keep(Samples samples, String name, Latencies latencies, double seconds) {
    samples.add(name, latencies.count() / seconds);
    samples.add(name + ", p50", latencies.quantile(0.5) / 1e3);
    samples.add(name + ", p99", latencies.quantile(0.99) / 1e3);
  }

  /// Writes beside one analysis for long, with a sample for each part of the time.
  private void sampleLong(Samples samples, Stoa stoa) throws Exception {
    var pages = pages(stoa);
    var random = new SplittableRandom(15);
    var part = scale.analysisTime().dividedBy(LONG_PARTS);
    try (var analysis = new Analysis(stoa, pages)) {
      analysis.begin();
      for (int i = 0; i < LONG_PARTS; i++) {
        long start = System.nanoTime();
        Latencies latencies = write(pages, PERIOD_NANOS, part, random);
        keep(samples, LONG, latencies, (System.nanoTime() - start) / 1e9);
      }
    }
  }

  private List<Page> pages(Stoa stoa) throws Exception {
    List<Page> pages =
        IntStream.range(0, scale.pages()).mapToObj(i -> stoa.get(Page.class, i)).toList();
    Parallel.run(CALLERS, pages.size(), i -> pages.get(i).view(0, 0, 0));
    return pages;
  }

  /// An analysis of pages, again and again, on a thread of its own until it is closed.
  private static final class Analysis implements AutoCloseable {
    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final AtomicLong read = new AtomicLong();
    private final Thread thread;

    private Analysis(Stoa stoa, List<Page> pages) {
      thread =
          Thread.ofPlatform()
              .unstarted(() -> {
                try {
                  while (!over.get()) analyse(stoa, pages, over, read);
                } catch (Throwable e) {
                  failure.compareAndSet(null, e);
                }
              });
    }

    private void begin() {
      thread.start();
    }

    /// Ends it. Does not wait when the caller is interrupted.
    ///
    /// @throws IllegalStateException when it has failed
    @Override
    public void close() {
      over.set(true);
      try {
        thread.join(); // at once, if it has not begun
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      Throwable failed = failure.get();
      if (failed != null) throw new IllegalStateException("the analysis failed: " + failed, failed);
    }
  }

  /// Reads all pages as of one moment.
  private static void analyse(Stoa stoa, List<Page> pages, AtomicBoolean over, AtomicLong read) {
    stoa.transact(
        ALL_PAGES,
        () -> {
          long views = 0;
          for (Page page : pages) {
            if (over.get()) return 0L;
            views += page.views();
            read.incrementAndGet();
          }
          if (views < pages.size()) throw new IllegalStateException("views are missing");
          return views;
        });
  }

  private static Latencies write(
      List<Page> pages, long periodNanos, Duration time, SplittableRandom random) {
    var latencies = new Latencies();
    long start = System.nanoTime();
    long next = start;
    while (System.nanoTime() - start < time.toNanos()) {
      long began = System.nanoTime();
      pages
          .get(random.nextInt(pages.size()))
          .view(random.nextLong(), random.nextInt(2_000), random.nextInt(2_000));
      latencies.add(System.nanoTime() - began);
      next += periodNanos;
      long wait = next - System.nanoTime();
      if (periodNanos > 0 && wait > 0) LockSupport.parkNanos(wait);
    }
    return latencies;
  }

  private void tell(Findings findings, Samples samples) {
    var results = new ArrayList<Result>();
    for (String pace : List.of(PACED, FLAT_OUT)) {
      String alone = name(pace, false);
      String beside = name(pace, true);
      results.add(Result.of(samples, alone, "1/s"));
      results.add(Result.of(samples, beside, "1/s").beside(alone, samples.median(alone)));
      for (String quantile : List.of(", p50", ", p99")) {
        results.add(
            Result.of(samples, beside + quantile, "µs")
                .beside(alone + quantile, samples.median(alone + quantile)));
      }
      results.add(Result.of(samples, read(pace), "objects/s"));
      findings.atLeast(
          "writes beside a long analysis ÷ alone, %s: at least 0.95".formatted(pace),
          0.95,
          samples.medianRatio(beside, alone));
    }
    results.add(Result.of(samples, LONG, "1/s"));
    results.add(Result.alone(LONG + ", least of the parts", least(samples.of(LONG)), "1/s"));
    results.add(Result.of(samples, LONG + ", p50", "µs"));
    results.add(Result.of(samples, LONG + ", p99", "µs"));
    findings.section(
        "one writer of %,d pages beside an analysis of all of them, %s (Figure 15)"
            .formatted(scale.pages(), place),
        results);
    findings.figure(
        "figure-15-analysis.svg",
        new Chart(
            "A writer beside a long analysis",
            "0: alone, 1: beside an analysis of %,d pages; every sample and the median"
                .formatted(scale.pages()),
            "views recorded per second",
            "analyses",
            List.of(
                Lines.panel(
                    "",
                    samples,
                    List.of(0, 1),
                    List.of(
                        new Lines.Line(FLAT_OUT, i -> name(FLAT_OUT, i == 1)),
                        new Lines.Line(PACED, i -> name(PACED, i == 1))),
                    1))));
  }

  private static double least(List<Double> values) {
    return values.stream().mapToDouble(each -> each).min().orElse(0);
  }

  private static String name(String pace, boolean beside) {
    return "views recorded %s, %s".formatted(beside ? "beside an analysis" : "alone", pace);
  }

  private static String read(String pace) {
    return "read by the analysis, " + pace;
  }
}
