package stoa.bench.backup;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import stoa.Stoa;
import stoa.StreamKey;
import stoa.bench.load.Counter;
import stoa.bench.load.Latencies;
import stoa.bench.load.Parallel;
import stoa.bench.load.Samples;
import stoa.bench.machine.DiskLimits;
import stoa.bench.machine.ServerJava;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;
import stoa.bench.report.Result;
import stoa.programs.BackgroundProcess;
import stoa.programs.ChildProcess;
import stoa.programs.Directories;

/// Measures callers while a backup is taken beside callers before, and restoring a store beside
/// copying as many bytes.
public final class BackupBenchmark implements Benchmark<BackupScale> {
  private static final String MAIN = "stoa.cli.Main";
  private static final int CALLERS = 24;
  private static final int COUNTERS = 100;
  private static final int ENTRY_BYTES = 16 << 10;
  private static final int FILLERS = 16;

  // As `./stoa backup` starts it.
  private static final List<String> LAUNCHER = List.of("nice", "-n", "19");
  private static final List<String> LAUNCHER_OPTIONS =
      List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

  // A backup takes long.
  private static final int ALONE_TIMES = 5;

  private static final double P99_RATIO_MAX = 1.5;
  private static final double RESTORE_RATIO_MIN = 0.5;
  private static final double MIB = 1 << 20;

  private static final String BEFORE = "24 callers, before";
  private static final String DURING = "24 callers, during a backup";
  private static final String FULL = "a full backup";
  private static final String NEXT = "the next backup, of what the callers wrote";
  private static final String RESTORED = "restore";
  private static final String COPIED = "a copy, synced";

  /// Makes the benchmark.
  public BackupBenchmark() {}

  @Override
  public String name() {
    return "backup";
  }

  @Override
  public String description() {
    return "backups: callers while one is taken, and restoring beside copying";
  }

  @Override
  public BackupScale full() {
    return BackupScale.full();
  }

  @Override
  public BackupScale smoke() {
    return BackupScale.smoke();
  }

  @Override
  public Outcome run(Context<BackupScale> context) throws Exception {
    var findings = new Findings(context.sizes(), BackupScale.full());
    var samples = new Samples();
    Path folder = context.folder();
    var serving =
        List.of("serve", "--data", folder.resolve("data").toString(), "--listen", "127.0.0.1:0");
    try (var server = BackgroundProcess.java(MAIN, ServerJava.HEAP, serving)) {
      String address = server.await("listening on ");
      server.await("ready");
      try (Stoa stoa = Stoa.open("stoa://" + address)) {
        context.progress().accept("filling the store");
        fill(stoa, context.sizes().mebibytes());
        List<Counter> counters =
            IntStream.range(0, COUNTERS).mapToObj(i -> stoa.get(Counter.class, "c" + i)).toList();
        long until = System.nanoTime() + context.scale().warmUp().toNanos();
        var _ = call(counters, () -> System.nanoTime() > until);
        for (int round = 1; round <= context.scale().rounds(); round++) {
          context.progress().accept("round %d: callers, and backups".formatted(round));
          round(folder.resolve("backups " + round), address, counters, context, samples);
        }
      }
    }
    for (int round = 1; round <= context.scale().rounds(); round++) {
      context.progress().accept("round %d: restoring".formatted(round));
      restore(folder, folder.resolve("backups " + round), samples);
    }
    tell(findings, samples, context.sizes().mebibytes());
    return findings.outcome();
  }

  private static void fill(Stoa stoa, int mebibytes) throws Exception {
    int entries = (int) (mebibytes * MIB / ENTRY_BYTES);
    Parallel.run(
        FILLERS,
        entries,
        i -> {
          var data = new byte[ENTRY_BYTES];
          new Random(i).nextBytes(data);
          stoa.streams().append(StreamKey.of("fill " + i % FILLERS), data);
        });
  }

  private static void round(
      Path backups,
      String address,
      List<Counter> counters,
      Context<BackupScale> context,
      Samples samples)
      throws Exception {
    long end = System.nanoTime() + ALONE_TIMES * context.scale().time().toNanos();
    tell(samples, BEFORE, call(counters, () -> System.nanoTime() > end));
    long start = System.nanoTime();
    List<String> taking =
        ChildProcess.command(
            LAUNCHER,
            MAIN,
            LAUNCHER_OPTIONS,
            ChildProcess.classPath(),
            List.of("backup", "--server", address, "--to", backups.toString()));
    try (var full = ChildProcess.start(taking)) {
      tell(samples, DURING, call(counters, () -> !full.isAlive()));
      requireDone(full);
      samples.add(FULL, (System.nanoTime() - start) / 1e9);
    }
    long again = System.nanoTime();
    try (var next = ChildProcess.start(taking)) {
      requireDone(next);
      samples.add(NEXT, (System.nanoTime() - again) / 1e9);
    }
  }

  private static void restore(Path folder, Path backups, Samples samples) throws Exception {
    Path copied = folder.resolve("copied");
    Path restored = folder.resolve("restored");
    try {
      double mebibytes = DiskLimits.bytes(backups) / MIB;
      long start = System.nanoTime();
      copy(backups, copied);
      samples.add(COPIED, mebibytes * 1e9 / (System.nanoTime() - start));
      Directories.delete(copied);
      start = System.nanoTime();
      var restoring = List.of("restore", "--from", backups.toString(), "--to", restored.toString());
      try (var process = ChildProcess.java(MAIN, restoring)) {
        requireDone(process);
      }
      double took = System.nanoTime() - start;
      samples.add(RESTORED, DiskLimits.bytes(restored) / MIB * 1e9 / took);
    } finally {
      Directories.delete(copied);
      Directories.delete(restored);
      Directories.delete(backups);
    }
  }

  /// Copies the files below a folder into one folder, each synced at its end.
  private static void copy(Path from, Path to) throws IOException {
    var buffer = ByteBuffer.allocateDirect(1 << 20);
    Files.createDirectories(to);
    try (var files = Files.walk(from)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        try (var in = FileChannel.open(file);
            var out =
                FileChannel.open(
                    to.resolve(file.getFileName()),
                    StandardOpenOption.CREATE_NEW,
                    StandardOpenOption.WRITE)) {
          while (in.read(buffer.clear()) >= 0) {
            buffer.flip();
            while (buffer.hasRemaining()) out.write(buffer);
          }
          out.force(true);
        }
      }
    }
  }

  private static void requireDone(ChildProcess process) throws Exception {
    int code = process.await();
    if (code != 0) throw new IllegalStateException("the command ended with " + code);
  }

  /// Has all callers call until something is over.
  private static Latencies call(List<Counter> counters, BooleanSupplier over) throws Exception {
    var seen = new ArrayList<Latencies>();
    for (int caller = 0; caller < CALLERS; caller++) seen.add(new Latencies());
    Parallel.run(
        CALLERS,
        CALLERS,
        caller -> {
          Latencies latencies = seen.get(caller);
          for (int turn = caller; !over.getAsBoolean(); turn++) {
            long start = System.nanoTime();
            counters.get(turn % COUNTERS).add(1);
            latencies.add(System.nanoTime() - start);
          }
        });
    var all = new Latencies();
    seen.forEach(all::add);
    return all;
  }

  private static void tell(Samples samples, String phase, Latencies seen) {
    samples.add(phase + ", p50", seen.quantile(0.5) / 1e3);
    samples.add(phase + ", p99", seen.quantile(0.99) / 1e3);
  }

  private static void tell(Findings findings, Samples samples, int mebibytes) {
    var calls = new ArrayList<Result>();
    for (String unit : List.of(", p50", ", p99")) {
      String before = BEFORE + unit;
      calls.add(Result.of(samples, before, "µs"));
      calls.add(Result.of(samples, DURING + unit, "µs").beside(before, samples.median(before)));
    }
    calls.add(Result.of(samples, FULL, "s"));
    calls.add(Result.of(samples, NEXT, "s"));
    findings.section(
        "durable increments of %d counters at a server with %,d MiB; the backup is on the same disk"
            .formatted(COUNTERS, mebibytes),
        calls);
    findings.section(
        "restoring, with the start of the process",
        List.of(
            Result.of(samples, COPIED, "MiB/s"),
            Result.of(samples, RESTORED, "MiB/s").beside(COPIED, samples.median(COPIED))));
    findings.atMost(
        "p99 during a backup ÷ before, at most %s".formatted(P99_RATIO_MAX),
        P99_RATIO_MAX,
        samples.medianRatio(DURING + ", p99", BEFORE + ", p99"));
    findings.atLeast(
        "restore ÷ a copy, at least %s".formatted(RESTORE_RATIO_MIN),
        RESTORE_RATIO_MIN,
        samples.medianRatio(RESTORED, COPIED));
  }
}
