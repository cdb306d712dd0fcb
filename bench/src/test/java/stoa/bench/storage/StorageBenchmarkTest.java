package stoa.bench.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.load.Scale;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;
import stoa.bench.report.Result;

class StorageBenchmarkTest {
  private static final StorageScale TINY =
      new StorageScale(
          1,
          Duration.ofMinutes(1),
          Duration.ofMillis(2),
          Duration.ofMillis(20),
          Duration.ofMillis(20),
          Duration.ofMillis(20),
          List.of(4 << 10, 256 << 10),
          16 << 20,
          8 << 20,
          4 << 20,
          4 << 20,
          4 << 20,
          List.of(1, 40));

  @TempDir Path folder;

  private Context<StorageScale> context() {
    return new Context<>(folder, new Scale(1, Duration.ZERO, Duration.ofMillis(1)), TINY, _ -> {});
  }

  @Test
  void measuresEveryContenderAtEveryPointAndLeavesNoFile() throws Exception {
    var contenders =
        List.of(
            new PlainFiles(), new JournaledFiles(), new DeviceContender(), new RecordContender());
    Outcome outcome = StorageBenchmark.run(context(), contenders);
    for (Result result : outcome.results()) {
      assertTrue(Double.isFinite(result.value()), () -> "not measured: " + result);
      assertTrue(!result.samples().isEmpty(), () -> "no samples: " + result);
      assertEquals(result.beside() != null, Double.isFinite(result.ratio()), result::toString);
    }
    // 2 workloads with 2 sizes, written and read, by 3 and the bare file; 2 sizes of small values
    // with 2 numbers of callers, a rate and 2 latencies each, by 4 and the bare file.
    assertEquals(
        2 * 2 * 2 * 4 + 1 + 4 * OrderPhase.Order.all().size(), (int) count(outcome, "MiB/s"));
    assertEquals(2 * 2 * 5, count(outcome, "1/s"));
    assertEquals(2 * 2 * 5 * 2, count(outcome, "µs"));
    assertEquals(
        List.of(
            "figure-3-write.svg", "figure-4-read.svg", "figure-5-order.svg", "small-writes.svg"),
        List.copyOf(outcome.figures().keySet()));
    assertTrue(outcome.table().contains("random unaligned"), outcome::table);
    try (var left = Files.walk(folder)) {
      assertEquals(0, left.filter(Files::isRegularFile).count());
    }
  }

  private static long count(Outcome outcome, String unit) {
    return outcome.results().stream().filter(result -> result.unit().equals(unit)).count();
  }

  @Test
  void theLargeOneVerifiesWhatItWrote() throws Exception {
    Outcome outcome = new StorageLargeBenchmark().run(context());
    assertEquals(6, outcome.results().size());
    assertTrue(
        outcome.results().stream().allMatch(result -> Double.isFinite(result.value())),
        outcome::table);
  }
}
