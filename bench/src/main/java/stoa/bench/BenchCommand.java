package stoa.bench;

import static java.util.Objects.requireNonNull;

import java.io.Console;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import stoa.bench.backup.BackupBenchmark;
import stoa.bench.changes.ChangesBenchmark;
import stoa.bench.cluster.ClusterBenchmark;
import stoa.bench.cluster.ClusterPart;
import stoa.bench.code.CodeBenchmark;
import stoa.bench.coordination.CoordinationBenchmark;
import stoa.bench.csmr.CsmrBenchmark;
import stoa.bench.curves.CurvesBenchmark;
import stoa.bench.embedded.EmbeddedBenchmark;
import stoa.bench.indexes.IndexesBenchmark;
import stoa.bench.load.Scale;
import stoa.bench.log.LogBenchmark;
import stoa.bench.machine.MachineDescription;
import stoa.bench.maps.MapsBenchmark;
import stoa.bench.maps.RecordsBenchmark;
import stoa.bench.migration.MigrationBenchmark;
import stoa.bench.migration.MigrationPart;
import stoa.bench.place.StorePlace;
import stoa.bench.remote.RemoteBenchmark;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;
import stoa.bench.report.Report;
import stoa.bench.stacksync.StackSyncBenchmark;
import stoa.bench.stacksync.StackSyncPart;
import stoa.bench.storage.AccessFileBenchmark;
import stoa.bench.storage.StorageBenchmark;
import stoa.bench.storage.StorageLargeBenchmark;
import stoa.bench.timers.TimersBenchmark;
import stoa.bench.tx.TxBenchmark;
import stoa.bench.watching.WatchingBenchmark;
import stoa.bench.ycsb.YcsbBenchmark;
import stoa.bench.ycsb.YcsbPart;
import stoa.programs.Directories;

/// `stoa bench`: lists the benchmarks, or runs one.
@Command(
    name = "bench",
    description = {
      "Measures Stoa beside the limits of this machine.",
      "",
      "Without a name, lists the benchmarks. Stop other work first: a busy machine's figures are"
          + " worth nothing."
    })
final class BenchCommand implements Callable<Integer> {
  private static final List<Benchmark<?>> BENCHMARKS =
      List.of(
          new EmbeddedBenchmark(),
          new StorageBenchmark(),
          new StorageLargeBenchmark(),
          new LogBenchmark(),
          new TxBenchmark(),
          new CsmrBenchmark(),
          new CodeBenchmark(),
          new BackupBenchmark(),
          new WatchingBenchmark(),
          new TimersBenchmark(),
          new CoordinationBenchmark(),
          new MapsBenchmark(),
          new IndexesBenchmark(),
          new ChangesBenchmark(),
          new RemoteBenchmark(),
          new CurvesBenchmark(),
          new RecordsBenchmark(),
          new YcsbBenchmark(),
          new MigrationBenchmark(),
          new StackSyncBenchmark(),
          new ClusterBenchmark());

  private static final long LINE_NANOS = 10_000_000_000L;

  private long shown = System.nanoTime();

  @Spec private @Nullable CommandSpec spec;

  @Parameters(arity = "0..1", paramLabel = "NAME", description = "Which one to run.")
  private @Nullable String name;

  @Option(names = "--json", paramLabel = "FILE", description = "Writes the results as JSON, too.")
  private @Nullable Path json;

  @Option(names = "--smoke", description = "Only shows that it runs, within three minutes.")
  private boolean smoke;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description =
          "A directory on the disk to measure. Without it, stoa-data/bench. What is written there"
              + " is deleted at the end.")
  private Path data = Path.of("stoa-data", "bench");

  @Option(
      names = "--figures",
      paramLabel = "DIR",
      description =
          "Where a benchmark with figures writes them, as SVG. Without it, figures in the build's"
              + " output.")
  private Path figures = Path.of(System.getProperty("stoa.output", "stoa-data"), "figures");

  @Option(
      names = "--workload",
      paramLabel = "FILE",
      description =
          "The accesses that storage measures, in place of the paper's; docs/bench/storage.md has"
              + " the format.")
  private @Nullable Path workload;

  @Option(
      names = "--journal",
      paramLabel = "DIR",
      description =
          "A directory on another disk, where storage keeps a journal of one more contender.")
  private @Nullable Path journal;

  @Option(
      names = "--part",
      paramLabel = "PART",
      split = ",",
      description =
          "Only these parts of cluster, migration, stacksync or ycsb; a wrong one tells which there"
              + " are.")
  private List<String> parts = List.of();

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      description =
          "A trace of Ubuntu One for the open loop of stacksync, in one of its two forms. Without it,"
              + " a generated one.")
  private @Nullable Path trace;

  @Option(
      names = "--rate",
      paramLabel = "N",
      description =
          "The mean number of commits in a second of --trace. Without it, the trace's own times.")
  private double rate;

  @Option(
      names = "--at",
      paramLabel = "PLACE",
      description =
          "Where the store of tx, csmr and log is: embedded in this process, at a server, or at a"
              + " cluster of three. Without it, tx and csmr are embedded, and log measures the parts of"
              + " its log one by one.")
  private @Nullable String at;

  @Override
  public Integer call() throws Exception {
    CommandLine line = requireNonNull(spec).commandLine();
    PrintWriter out = line.getOut();
    String wanted = name;
    if (wanted == null) {
      for (Benchmark<?> each : BENCHMARKS) {
        out.printf("  %-14s %s%n", each.name(), each.description());
      }
      return 0;
    }
    Path accesses = workload;
    if (accesses != null) {
      if (wanted.equals("storage")) return run(new AccessFileBenchmark(accesses), out);
      line.getErr().println("--workload is for storage");
      return CommandLine.ExitCode.USAGE;
    }
    Path other = journal;
    if (other != null) {
      if (wanted.equals("storage")) return run(new StorageBenchmark(other), out);
      line.getErr().println("--journal is for storage");
      return CommandLine.ExitCode.USAGE;
    }
    if (!parts.isEmpty() || at != null || trace != null) {
      try {
        String place = at;
        Benchmark<?> chosen = place == null ? inPart(wanted) : at(wanted, place);
        return run(chosen, out);
      } catch (IllegalArgumentException wrong) {
        line.getErr().println(wrong.getMessage());
        return CommandLine.ExitCode.USAGE;
      }
    }
    for (Benchmark<?> each : BENCHMARKS) {
      if (each.name().equals(wanted)) return run(each, out);
    }
    line.getErr().println("no benchmark is called " + wanted + "; ./stoa bench lists them");
    return CommandLine.ExitCode.USAGE;
  }

  private static Benchmark<?> at(String wanted, String place) {
    return switch (wanted) {
      case "csmr" -> new CsmrBenchmark(StorePlace.of(place));
      case "log" -> new LogBenchmark(StorePlace.of(place));
      case "tx" -> new TxBenchmark(StorePlace.of(place));
      default -> throw new IllegalArgumentException("--at is for tx, csmr and log");
    };
  }

  private Benchmark<?> inPart(String wanted) {
    return switch (wanted) {
      case "cluster" -> new ClusterBenchmark(parts(ClusterPart.class));
      case "migration" -> new MigrationBenchmark(parts(MigrationPart.class));
      case "stacksync" -> new StackSyncBenchmark(parts(StackSyncPart.class), trace, rate);
      case "ycsb" -> {
        if (parts.isEmpty()) throw new IllegalArgumentException("--trace is for stacksync");
        yield new YcsbBenchmark(parts(YcsbPart.class));
      }
      default ->
          throw new IllegalArgumentException(
              "--part is for cluster, migration, stacksync and ycsb, and --trace for stacksync");
    };
  }

  private <P extends Enum<P>> Set<P> parts(Class<P> all) {
    if (parts.isEmpty()) return EnumSet.allOf(all);
    var some = EnumSet.noneOf(all);
    for (String word : parts) {
      boolean isOne = false;
      for (P each : all.getEnumConstants()) {
        if (!each.name().equalsIgnoreCase(word)) continue;
        some.add(each);
        isOne = true;
      }
      if (!isOne) {
        throw new IllegalArgumentException(
            "there is no part %s; there are %s"
                .formatted(word, EnumSet.allOf(all).toString().toLowerCase(Locale.ROOT)));
      }
    }
    return some;
  }

  private <S> int run(Benchmark<S> benchmark, PrintWriter out) throws Exception {
    Files.createDirectories(data);
    Path folder = Files.createTempDirectory(data.toAbsolutePath(), benchmark.name() + "-");
    try {
      var scale = smoke ? Scale.smoke() : Scale.full();
      S sizes = smoke ? benchmark.smoke() : benchmark.full();
      var outcome = benchmark.run(new Context<>(folder, scale, sizes, this::show));
      show("");
      out.print(outcome.table());
      out.printf("%n%s%n", MachineDescription.describe(folder));
      Path file = json;
      out.flush();
      if (file != null) {
        Files.writeString(file, Report.json(outcome.results()), StandardCharsets.UTF_8);
        out.println("results: " + file.toAbsolutePath());
      }
      draw(outcome, out);
      return 0;
    } finally {
      Directories.delete(folder);
    }
  }

  private void draw(Outcome outcome, PrintWriter out) throws IOException {
    if (outcome.figures().isEmpty()) return;
    Files.createDirectories(figures);
    for (var figure : outcome.figures().entrySet()) {
      Path file = figures.resolve(figure.getKey());
      Files.writeString(file, figure.getValue(), StandardCharsets.UTF_8);
      out.println("figure: " + file.toAbsolutePath());
    }
  }

  /// Shows the present activity: in one line of a terminal; elsewhere as lines, at most one in ten
  /// seconds.
  private void show(String doing) {
    if (Optional.ofNullable(System.console()).filter(Console::isTerminal).isEmpty()) {
      long now = System.nanoTime();
      if (doing.isEmpty() || now - shown < LINE_NANOS) return;
      shown = now;
      System.err.println(doing);
      return;
    }
    System.err.print("\r\033[K" + doing);
    System.err.flush();
  }
}
