package stoa.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import stoa.bench.Benchmark;
import stoa.bench.Context;
import stoa.bench.Report;
import stoa.bench.Scale;

/// `stoa bench`: lists the benchmarks, or runs one.
@Command(
    name = "bench",
    description = "Measure Stoa beside the limits of this machine.",
    mixinStandardHelpOptions = true)
final class BenchCommand implements Callable<Integer> {
  @Parameters(arity = "0..1", paramLabel = "NAME", description = "Which one; without, list them.")
  private @Nullable String name;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the results as JSON, too.")
  private @Nullable Path json;

  @Option(names = "--smoke", description = "Only show that it runs, within a minute.")
  private boolean smoke;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      defaultValue = ".stoa/bench",
      description =
          "Where to write, on the disk to measure; emptied afterwards (${DEFAULT-VALUE}).")
  private Path data = Path.of(".stoa/bench");

  @Override
  public Integer call() throws Exception {
    String wanted = name;
    if (wanted == null) {
      for (Benchmark each : Benchmark.all()) {
        System.out.printf("  %-12s %s%n", each.name(), each.description());
      }
      return 0;
    }
    for (Benchmark each : Benchmark.all()) {
      if (each.name().equals(wanted)) return run(each);
    }
    System.err.println("no benchmark is called " + wanted + "; stoa bench lists them");
    return 2;
  }

  private int run(Benchmark benchmark) throws Exception {
    Files.createDirectories(data);
    Path folder = Files.createTempDirectory(data.toAbsolutePath(), benchmark.name() + "-");
    try {
      var scale = smoke ? Scale.smoke() : Scale.full();
      var results =
          benchmark.run(new Context(folder, scale, doing -> System.err.println("  " + doing)));
      System.out.println();
      System.out.print(Report.table(results));
      Path file = json;
      if (file != null) Files.writeString(file, Report.json(results), StandardCharsets.UTF_8);
      return 0;
    } finally {
      delete(folder);
    }
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path path : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(path);
    }
  }
}
