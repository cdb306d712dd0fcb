package stoa.bench.migration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.load.Scale;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;
import stoa.bench.report.Result;

/// The benchmark of migrating objects, at a scale that shows that it runs.
class MigrationBenchmarkTest {
  private static final Duration SHORT = Duration.ofMillis(30);

  @TempDir Path folder;

  @Test
  void measuresAllFiguresAndLeavesNoFile() throws Exception {
    var tiny =
        new MigrationScale(
            1,
            SHORT,
            Duration.ofMillis(1),
            SHORT,
            SHORT,
            1,
            2,
            1,
            SHORT,
            Duration.ofMillis(1),
            SHORT,
            Duration.ofMillis(1),
            new Blocks(1, Duration.ofMillis(100)),
            1,
            List.of(2, 4),
            List.of(1, 5),
            List.of(1, 2),
            1,
            List.of(0),
            List.of(100),
            List.of(),
            SHORT,
            SHORT,
            SHORT,
            SHORT,
            SHORT);
    var scale = new Scale(1, SHORT, SHORT);
    Outcome outcome = new MigrationBenchmark().run(new Context<>(folder, scale, tiny, _ -> {}));
    for (Result result : outcome.results()) {
      assertTrue(Double.isFinite(result.value()), () -> "not measured: " + result);
    }
    assertEquals(
        Set.of(
            "figure-9-single.svg",
            "figure-10-multi.svg",
            "figure-11-leaves.svg",
            "figure-12-sizes.svg",
            "figure-12-updates.svg",
            "figure-13-latency.svg",
            "figure-13-throughput.svg",
            "figure-14-latency.svg",
            "figure-14-throughput.svg"),
        outcome.figures().keySet());
    for (int figure = 9; figure <= 14; figure++) {
      assertTrue(outcome.table().contains("Figure " + figure), outcome::table);
    }
    for (var expected :
        List.of(
            "reads alone",
            "as it travels, compressed",
            "central, reads from copies",
            "while readers do not pause",
            "\naims\n")) {
      assertTrue(outcome.table().contains(expected), outcome::table);
    }
    try (var left = Files.walk(folder)) {
      assertEquals(0, left.filter(Files::isRegularFile).count());
    }
  }
}
