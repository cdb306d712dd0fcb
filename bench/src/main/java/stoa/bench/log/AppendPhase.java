package stoa.bench.log;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import stoa.base.StreamId;
import stoa.bench.load.Samples;
import stoa.bench.plot.Chart;
import stoa.bench.plot.Lines;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;
import stoa.log.LocalBatchLog;
import stoa.programs.Directories;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.FileDisk;
import stoa.storage.disk.MemoryDisk;

/// Appends entries of 32 bytes to logs that materialize streams and to logs that do not (vCorfu,
/// Figure 7).
final class AppendPhase {
  private static final long MEMORY_BYTES_MAX = 1L << 30;
  private static final long ENTRIES_MAX = 2_000_000; // of a sample, for the memory
  private static final int MANY = 1_000;
  private static final String PROCESSOR = ", processor time per entry";
  private static final OperatingSystemMXBean PROCESS =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  /// The kinds of logs, in the order of tables.
  private enum Kind {
    BARE("bare log"),
    BACKPOINTERS("backpointers"),
    COMMIT_BITS("commit bits"),
    STOA("Stoa");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    AppendLog open(Device device, StreamId[] ids) {
      return switch (this) {
        case BARE -> new BareLog(device, ids);
        case BACKPOINTERS -> new BackpointerLog(device, ids);
        case COMMIT_BITS -> new CommitBitLog(device, ids);
        case STOA -> new MaterializedLog(new LocalBatchLog(device), ids);
      };
    }
  }

  /// The place of the log.
  private enum Where {
    MEMORY("in memory"),
    DISK("durable");

    private final String text;

    Where(String text) {
      this.text = text;
    }
  }

  private final Context<LogScale> context;
  private final LogScale scale;

  AppendPhase(Context<LogScale> context) {
    this.context = context;
    scale = context.sizes();
  }

  void measure(Findings findings) throws Exception {
    Map<String, Samples.Probe> probes = new LinkedHashMap<>();
    for (Where where : Where.values()) {
      for (int streams : streams(where)) {
        for (Kind kind : Kind.values()) {
          String name = name(kind, where, streams);
          probes.put(name, samples -> sample(samples, name, kind, where, streams));
        }
      }
    }
    var samples = Samples.interleaved(scale.rounds(), probes, context.progress());
    tell(findings, samples);
  }

  private List<Integer> streams(Where where) {
    return where == Where.MEMORY
        ? scale.streams()
        : scale.streams().stream().filter(streams -> streams == MANY).toList();
  }

  private void sample(Samples samples, String name, Kind kind, Where where, int streams)
      throws Exception {
    Path folder = context.folder().resolve("append");
    try (var log = kind.open(device(where, folder), AppendLog.ids(streams))) {
      sample(samples, name, log, streams);
    } finally {
      Directories.delete(folder);
    }
  }

  private void sample(Samples samples, String name, AppendLog log, int streams) {
    var random = new SplittableRandom(7);
    byte[] payload = new byte[AppendLog.ENTRY_BYTES];
    random.nextBytes(payload);
    long start = System.nanoTime();
    for (long warm = 0;
        warm < ENTRIES_MAX && System.nanoTime() - start < scale.warmUp().toNanos();
        warm += AppendLog.BATCH_ENTRIES) {
      log.append(AppendLog.batch(random, streams), payload);
    }
    start = System.nanoTime();
    long processor = PROCESS.getProcessCpuTime();
    long entries = 0;
    long nanos;
    do {
      log.append(AppendLog.batch(random, streams), payload);
      entries += AppendLog.BATCH_ENTRIES;
      nanos = System.nanoTime() - start;
    } while (entries < ENTRIES_MAX && nanos < scale.time().toNanos());
    samples.add(name, entries * 1e9 / nanos);
    samples.add(
        name + PROCESSOR, Math.max(1, PROCESS.getProcessCpuTime() - processor) / (double) entries);
  }

  private static Device device(Where where, Path folder) throws Exception {
    return switch (where) {
      case MEMORY -> Device.open(new MemoryDisk(MEMORY_BYTES_MAX), DeviceConfig.standard());
      case DISK ->
          Device.open(new FileDisk(Files.createDirectories(folder)), DeviceConfig.standard());
    };
  }

  private void tell(Findings findings, Samples samples) {
    for (Where where : Where.values()) {
      var results = new ArrayList<Result>();
      for (int streams : streams(where)) {
        String bare = name(Kind.BARE, where, streams);
        String backpointers = name(Kind.BACKPOINTERS, where, streams);
        results.add(Result.of(samples, bare, "entries/s"));
        for (Kind kind : List.of(Kind.BACKPOINTERS, Kind.COMMIT_BITS, Kind.STOA)) {
          String name = name(kind, where, streams);
          String beside = kind == Kind.BACKPOINTERS ? bare : backpointers;
          results.add(Result.of(samples, name, "entries/s").beside(beside, samples.median(beside)));
        }
        String processor = backpointers + PROCESSOR;
        results.add(
            Result.of(samples, name(Kind.STOA, where, streams) + PROCESSOR, "ns")
                .beside(processor, samples.median(processor)));
        findings.atLeast(
            "Stoa ÷ backpointers, %s, %,d streams: at least 0.95 (the paper: 0.6)"
                .formatted(where.text, streams),
            0.95,
            samples.medianRatio(name(Kind.STOA, where, streams), backpointers));
      }
      findings.section(
          "append of entries of %d bytes, %d at a time, %s (Figure 7)"
              .formatted(AppendLog.ENTRY_BYTES, AppendLog.BATCH_ENTRIES, where.text),
          results);
    }
    var lines = new ArrayList<Lines.Line>();
    for (Kind kind : List.of(Kind.STOA, Kind.BACKPOINTERS, Kind.COMMIT_BITS, Kind.BARE)) {
      lines.add(new Lines.Line(kind.text, streams -> name(kind, Where.MEMORY, streams)));
    }
    findings.figure(
        "figure-7-append.svg",
        new Chart(
            "Append of 32-byte entries",
            "%d at a time, each batch synced; in memory".formatted(AppendLog.BATCH_ENTRIES),
            "entries per second",
            "streams",
            List.of(Lines.panel("", samples, scale.streams(), lines, 1))));
  }

  private static String name(Kind kind, Where where, int streams) {
    return "%s, %s, %,d streams".formatted(kind.text, where.text, streams);
  }
}
