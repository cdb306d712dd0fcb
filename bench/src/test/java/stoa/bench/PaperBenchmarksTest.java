package stoa.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.csmr.CsmrBenchmark;
import stoa.bench.csmr.CsmrScale;
import stoa.bench.load.Scale;
import stoa.bench.log.LogBenchmark;
import stoa.bench.log.LogScale;
import stoa.bench.place.StorePlace;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;
import stoa.bench.report.Result;
import stoa.bench.tx.TxBenchmark;
import stoa.bench.tx.TxScale;

/// The benchmarks with the workloads of the vCorfu paper, at a scale that shows that they run.
class PaperBenchmarksTest {
  private static final Duration WARM_UP = Duration.ofMillis(1);
  private static final Duration TIME = Duration.ofMillis(10);
  private static final Scale TINY = new Scale(1, WARM_UP, TIME);
  private static final LogScale LOG =
      new LogScale(1, WARM_UP, TIME, List.of(32, 64), List.of(1, 2), List.of(1_000), 3, 2, 1_000);
  private static final TxScale TX =
      new TxScale(
          1,
          WARM_UP,
          WARM_UP,
          TIME,
          10,
          5,
          WARM_UP,
          List.of(1, 2),
          100,
          List.of(0, 3),
          false,
          20,
          Duration.ofMillis(60),
          100,
          List.of(1, 2));
  private static final CsmrScale CSMR =
      new CsmrScale(1, List.of(10, 50), List.of(3), 1, 20, List.of(1, 2), TIME, List.of(1, 4));

  @TempDir Path folder;

  private <S> Outcome run(Benchmark<S> benchmark, S sizes, String... figures) throws Exception {
    Outcome outcome = benchmark.run(new Context<>(folder, TINY, sizes, _ -> {}));
    for (Result result : outcome.results()) {
      assertTrue(Double.isFinite(result.value()), () -> "not measured: " + result);
      // The load beside the measured load may do nothing in so short a time.
      boolean beside = result.measure().contains("readers") || result.measure().contains("read by");
      boolean isShare = result.unit().equals("of all") || result.unit().equals("%");
      if (!beside && !isShare) {
        assertTrue(result.value() > 0, () -> "nothing was done in " + result);
      }
    }
    assertEquals(List.of(figures), List.copyOf(outcome.figures().keySet()));
    try (var left = Files.walk(folder)) {
      assertEquals(0, left.filter(Files::isRegularFile).count());
    }
    return outcome;
  }

  private <S> Outcome runWithAims(Benchmark<S> benchmark, S sizes, String... figures)
      throws Exception {
    Outcome outcome = run(benchmark, sizes, figures);
    assertTrue(outcome.table().contains("\naims\n"), outcome::table);
    return outcome;
  }

  @Test
  void measuresTheLogAndLeavesNoFile() throws Exception {
    Outcome outcome =
        runWithAims(
            new LogBenchmark(),
            LOG,
            "figure-7-append.svg",
            "figure-8-read.svg",
            "figure-9-holes.svg");
    // A row for each of four logs, in memory with 32 and with 64 streams.
    assertEquals(
        2 * 4,
        outcome.results().stream()
            .filter(result -> result.measure().matches(".*, in memory, \\d+ streams"))
            .count());
  }

  @Test
  void measuresTheStreamsOfAStoreInAPlaceAndSaysWhatIsLeftOut() throws Exception {
    Outcome outcome = run(new LogBenchmark(StorePlace.EMBEDDED), LOG, "figure-8-read-embedded.svg");
    var measures = outcome.results().stream().map(Result::measure).toList();
    assertTrue(
        measures.containsAll(
            List.of(
                "appends to two streams at once, 64 streams",
                "at once, 32 streams, 1,000 entries",
                "follow the log")),
        measures::toString);
    assertTrue(outcome.table().contains("holes (Figure 9): a client cannot"), outcome::table);
  }

  @Test
  void measuresTransactionsAndLeavesNoFile() throws Exception {
    runWithAims(
        new TxBenchmark(),
        TX,
        "figure-13-snapshots.svg",
        "figure-14-readers.svg",
        "figure-15-analysis.svg",
        "durable-transactions.svg");
  }

  @Test
  void measuresComposedMapsAndLeavesNoFile() throws Exception {
    runWithAims(
        new CsmrBenchmark(),
        CSMR,
        "figure-16-open.svg",
        "figure-16-aborts.svg",
        "figure-17-whole.svg");
  }
}
