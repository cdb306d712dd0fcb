package stoa.bench.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.load.Scale;
import stoa.bench.machine.TaskProcess;
import stoa.bench.report.Context;
import stoa.bench.report.Result;

class EmbeddedBenchmarkTest {
  private static final Scale TINY = new Scale(1, Duration.ofMillis(5), Duration.ofMillis(40));
  private static final EmbeddedScale SIZES = new EmbeddedScale(1 << 20, 1_000, 1_000);

  @TempDir Path folder;

  @Test
  void measuresEverythingAndLeavesNoFile() throws Exception {
    List<Result> results =
        new EmbeddedBenchmark().measure(new Context<>(folder, TINY, SIZES, _ -> {}));
    for (Result result : results) {
      assertTrue(Double.isFinite(result.value()), () -> "not measured: " + result);
      assertEquals(result.beside() != null, Double.isFinite(result.ratio()), result::toString);
      assertTrue(!result.unit().equals("1/s") || result.value() > 0, () -> "no call in " + result);
    }
    assertEquals(
        results.size(), results.stream().map(Result::measure).distinct().count(), "names repeat");
    assertTrue(
        results.stream().noneMatch(result -> result.measure().contains("failed")),
        results::toString);
    try (var left = Files.list(folder)) {
      assertEquals(0, left.count());
    }
  }

  @Test
  void noticesAChildThatFailed() throws Exception {
    var told = TaskProcess.run(List.of(), "no such task", folder, 1);
    assertNotEquals(0, told.exit());
    assertThrows(IllegalStateException.class, () -> told.number("calls"));
  }
}
