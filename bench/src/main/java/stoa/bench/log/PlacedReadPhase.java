package stoa.bench.log;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import stoa.StreamKey;
import stoa.StreamStore;
import stoa.bench.load.Parallel;
import stoa.bench.load.Samples;
import stoa.bench.place.StorePlace;
import stoa.bench.plot.Chart;
import stoa.bench.plot.Lines;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;
import stoa.programs.Directories;

/// Reads whole streams of a store in some place as the log grows (vCorfu, Figure 8): at once, and
/// from the last entry to the first, one call for each entry, as a client of a log with
/// backpointers has to.
final class PlacedReadPhase {
  private static final int CALLERS = 240;
  private static final String WHOLE = "at once";
  private static final String ENTRIES = "entry by entry";

  private final Context<LogScale> context;
  private final StorePlace place;
  private final LogScale scale;
  private final SplittableRandom random = new SplittableRandom(8);

  PlacedReadPhase(Context<LogScale> context, StorePlace place) {
    this.context = context;
    this.place = place;
    scale = context.sizes();
  }

  /// Returns the keys of streams by their numbers.
  static List<StreamKey> keys(int streams) {
    return IntStream.range(0, streams).mapToObj(i -> StreamKey.of("stream " + i)).toList();
  }

  void measure(Findings findings) throws Exception {
    var samples = new Samples();
    for (int streams : scale.streams()) {
      Path folder = context.folder().resolve("reads");
      context.progress().accept("reads: opening a store " + place);
      try (var opened = place.open(folder)) {
        measure(samples, opened.stoa().streams(), streams);
      } finally {
        Directories.delete(folder);
      }
    }
    tell(findings, samples);
  }

  private void measure(Samples samples, StreamStore store, int streams) throws Exception {
    List<StreamKey> keys = keys(streams);
    byte[] data = new byte[AppendLog.ENTRY_BYTES];
    int appended = 0;
    for (int entries : scale.entries()) {
      if (entries < streams) continue;
      context.progress().accept("writing a log of %,d entries".formatted(entries));
      int before = appended;
      Parallel.run(
          CALLERS,
          entries - before,
          i -> {
            var _ = store.append(keys.get((before + i) % streams), data);
          });
      appended = entries;
      for (int round = 1; round <= scale.rounds(); round++) {
        context
            .progress()
            .accept(
                "round %d of %d: reading %,d streams".formatted(round, scale.rounds(), streams));
        for (int i = 0; i < scale.reads(); i++) {
          int stream = random.nextInt(streams);
          samples.add(
              name(WHOLE, streams, entries),
              micros(
                  length(stream, streams, entries), () -> store.readAll(keys.get(stream)).size()));
        }
        int stream = random.nextInt(streams);
        samples.add(
            name(ENTRIES, streams, entries),
            micros(length(stream, streams, entries), () -> backwards(store, keys.get(stream))));
      }
    }
  }

  /// Returns the number of entries of a stream.
  private static int length(int stream, int streams, int entries) {
    return entries / streams + (stream < entries % streams ? 1 : 0);
  }

  /// Reads a stream and counts its entries.
  @FunctionalInterface
  private interface Reading {
    int count();
  }

  private static double micros(int length, Reading reading) {
    long start = System.nanoTime();
    int read = reading.count();
    double micros = (System.nanoTime() - start) / 1e3;
    if (read != length) {
      throw new IllegalStateException("read %,d of %,d entries".formatted(read, length));
    }
    return micros;
  }

  private static int backwards(StreamStore store, StreamKey key) {
    int count = 0;
    for (long at = store.check(key); at > 0 && store.read(key, at).isPresent(); at--) count++;
    return count;
  }

  private void tell(Findings findings, Samples samples) {
    var results = new ArrayList<Result>();
    var panels = new ArrayList<Chart.Panel>();
    for (int streams : scale.streams()) {
      for (int entries : scale.entries()) {
        String whole = name(WHOLE, streams, entries);
        String single = name(ENTRIES, streams, entries);
        if (!samples.has(whole)) continue;
        results.add(
            Result.alone(whole, samples.median(whole), "µs")
                .beside(single, samples.median(single)));
      }
      var lines =
          List.of(
              new Lines.Line(WHOLE, entries -> name(WHOLE, streams, entries)),
              new Lines.Line(ENTRIES, entries -> name(ENTRIES, streams, entries)));
      panels.add(
          Lines.panel(
              "%,d streams".formatted(streams),
              StreamReadPhase.medians(samples),
              scale.entries(),
              lines,
              0.1));
    }
    findings.section(
        "read of a whole stream %s as the log grows (Figure 8)".formatted(place), results);
    findings.figure(
        "figure-8-read-%s.svg".formatted(place.name().toLowerCase(Locale.ROOT)),
        new Chart(
            "Reading a whole stream " + place,
            "one caller; median over random streams",
            "microseconds",
            "entries in the log",
            panels));
  }

  private static String name(String way, int streams, int entries) {
    return "%s, %,d streams, %,d entries".formatted(way, streams, entries);
  }
}
