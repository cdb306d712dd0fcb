package stoa.bench.log;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import stoa.base.StreamId;
import stoa.bench.load.Samples;
import stoa.bench.plot.Chart;
import stoa.bench.plot.Lines;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;
import stoa.log.LocalBatchLog;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;

/// Reads whole streams as the log grows (vCorfu, Figure 8), and streams that have a hole (Figure
/// 9), materialized and by backpointers, from logs in memory.
final class StreamReadPhase {
  private static final long MEMORY_BYTES_MAX = 1L << 30;

  // The time to read one entry from a log unit in the paper, in seconds (section 6.1).
  private static final double PAPER_READ_SECONDS = 0.3e-3;

  private final Context<LogScale> context;
  private final LogScale scale;
  private final SplittableRandom random = new SplittableRandom(8);
  private final byte[] payload = new byte[AppendLog.ENTRY_BYTES];

  StreamReadPhase(Context<LogScale> context) {
    this.context = context;
    scale = context.sizes();
    random.nextBytes(payload);
  }

  void measure(Findings findings) {
    var samples = new Samples();
    for (int streams : scale.streams()) {
      var points = new ArrayList<>(scale.entries());
      points.removeIf(entries -> entries < streams);
      try (var logs = new Logs(streams)) {
        for (int entries : points) {
          context.progress().accept("reading %,d streams".formatted(streams));
          logs.grow(entries, Holes.NONE);
          for (int round = 0; round < scale.rounds(); round++) {
            for (int i = 0; i < scale.reads(); i++) {
              int stream = random.nextInt(streams);
              samples.add(whole("Stoa", streams, entries), micros(() -> logs.ours.read(stream)));
              samples.add(
                  whole("backpointers", streams, entries), micros(() -> logs.theirs.read(stream)));
            }
          }
        }
      }
    }
    for (int streams : scale.streams()) {
      try (var logs = new Logs(streams);
          var dense = new Logs(streams)) {
        context.progress().accept("reading holes in %,d streams".formatted(streams));
        logs.grow(streams * scale.holeEntries(), Holes.SOME);
        dense.grow(streams * scale.holeEntries(), Holes.NONE);
        int count = scale.rounds() * scale.reads();
        // In turn, and apart from the searches: a read after another one finds warmer caches.
        for (int i = 0; i < 2 * count; i++) {
          int stream = random.nextInt(streams);
          if (i % 2 == 0) {
            samples.add(hole("Stoa", streams, ""), micros(() -> logs.ours.read(stream)));
          } else {
            samples.add(dense(streams), micros(() -> dense.ours.read(stream)));
          }
        }
        for (int i = 0; i < count; i++) {
          int stream = random.nextInt(streams);
          var reads = new double[1];
          samples.add(
              hole("backpointers", streams, ""),
              micros(() -> reads[0] = logs.theirs.readBehindHole(stream)));
          samples.add(hole("backpointers", streams, ", entries read"), reads[0]);
        }
      }
    }
    tellWhole(findings, samples);
    tellHoles(findings, samples);
  }

  /// Whether the log has issued addresses that stay empty.
  private enum Holes {
    NONE,
    SOME
  }

  /// Two logs with the same entries.
  private final class Logs implements AutoCloseable {
    final MaterializedLog ours;
    final BackpointerLog theirs;
    private final int streams;
    private int entries;

    Logs(int streams) {
      this.streams = streams;
      StreamId[] ids = AppendLog.ids(streams);
      ours = new MaterializedLog(new LocalBatchLog(device()), ids);
      theirs = new BackpointerLog(device(), ids);
    }

    private static Device device() {
      return Device.open(new MemoryDisk(MEMORY_BYTES_MAX), DeviceConfig.standard());
    }

    void grow(int to, Holes holes) {
      while (entries < to) {
        int[] batch = AppendLog.batch(random, streams);
        ours.append(batch, payload);
        if (holes == Holes.SOME) ours.hole();
        theirs.append(batch, payload);
        entries += batch.length;
      }
    }

    @Override
    public void close() {
      ours.close();
      theirs.close();
    }
  }

  private static double micros(Runnable read) {
    long start = System.nanoTime();
    read.run();
    return (System.nanoTime() - start) / 1e3;
  }

  private void tellWhole(Findings findings, Samples samples) {
    var results = new ArrayList<Result>();
    var panels = new ArrayList<Chart.Panel>();
    for (int streams : scale.streams()) {
      for (int entries : scale.entries()) {
        String ours = whole("Stoa", streams, entries);
        String theirs = whole("backpointers", streams, entries);
        if (!samples.has(ours)) continue;
        results.add(
            Result.alone(ours, samples.median(ours), "µs").beside(theirs, samples.median(theirs)));
      }
      var lines =
          List.of(
              new Lines.Line("Stoa", entries -> whole("Stoa", streams, entries)),
              new Lines.Line("backpointers", entries -> whole("backpointers", streams, entries)));
      panels.add(
          Lines.panel(
              "%,d streams".formatted(streams), medians(samples), scale.entries(), lines, 0.1));
    }
    findings.section("read of a whole stream as the log grows (Figure 8)", results);
    findings.figure(
        "figure-8-read.svg",
        new Chart(
            "Reading a whole stream",
            "median over random streams; logs in memory",
            "microseconds",
            "entries in the log",
            panels));
  }

  private void tellHoles(Findings findings, Samples samples) {
    var results = new ArrayList<Result>();
    for (int streams : scale.streams()) {
      String ours = hole("Stoa", streams, "");
      String theirs = hole("backpointers", streams, "");
      String reads = hole("backpointers", streams, ", entries read");
      String dense = dense(streams);
      results.add(
          Result.alone(ours, samples.median(ours), "µs").beside(dense, samples.median(dense)));
      results.add(
          Result.alone(ours, samples.median(ours), "µs").beside(theirs, samples.median(theirs)));
      results.add(Result.alone(reads, samples.median(reads), "entries"));
      results.add(
          Result.alone(
                  hole("backpointers", streams, ", at the paper's 0.3 ms a read"),
                  samples.median(reads) * PAPER_READ_SECONDS,
                  "s")
              .beside("the paper", paper(streams)));
    }
    findings.section(
        "read of a stream of %d entries with a hole at its end (Figure 9)"
            .formatted(scale.holeEntries()),
        results.stream()
            .map(result -> Double.isFinite(result.besideValue()) ? result : alone(result))
            .toList());
    int few = scale.streams().getFirst();
    int many = scale.streams().getLast();
    findings.atMost(
        "read with a hole ÷ without, %,d streams: at most 1.1".formatted(many),
        1.1,
        samples.median(hole("Stoa", many, "")) / samples.median(dense(many)));
    findings.atMost(
        "read with a hole, %,d streams ÷ %,d streams: at most 2 (the paper: 70 by backpointers)"
            .formatted(many, few),
        2,
        samples.median(hole("Stoa", many, "")) / samples.median(hole("Stoa", few, "")));
    var lines =
        List.of(
            new Lines.Line("Stoa", streams -> hole("Stoa", streams, "")),
            new Lines.Line("backpointers", streams -> hole("backpointers", streams, "")));
    findings.figure(
        "figure-9-holes.svg",
        new Chart(
            "Reading a stream with a hole",
            "streams of %d entries, the hole at the end; logs in memory"
                .formatted(scale.holeEntries()),
            "microseconds",
            "streams",
            List.of(Lines.panel("", medians(samples), scale.streams(), lines, 0.1))));
  }

  private static Result alone(Result result) {
    return Result.alone(result.measure(), result.value(), result.unit());
  }

  private static double paper(int streams) {
    return switch (streams) {
      case 32 -> 0.21;
      case 100_000 -> 14.8;
      default -> Double.NaN;
    };
  }

  /// Returns the medians alone: the samples are too many to draw.
  static Samples medians(Samples samples) {
    var medians = new Samples();
    for (String measure : samples.measures()) medians.add(measure, samples.median(measure));
    return medians;
  }

  private static String whole(String kind, int streams, int entries) {
    return "%s, %,d streams, %,d entries".formatted(kind, streams, entries);
  }

  private static String dense(int streams) {
    return "Stoa, %,d streams, no hole".formatted(streams);
  }

  private static String hole(String kind, int streams, String what) {
    return "%s, %,d streams, a hole%s".formatted(kind, streams, what);
  }
}
