package stoa.bench.curves;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Stoa;
import stoa.bench.load.Scale;
import stoa.bench.remote.RemoteContender;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;

class CurvesBenchmarkTest {
  @TempDir Path folder;

  private Outcome run(CurveContender... contenders) throws Exception {
    var tiny = new Scale(1, Duration.ofMillis(1), Duration.ofMillis(10));
    var sizes =
        new CurvesScale(
            1,
            List.of(1, 3),
            List.of(1, 2),
            Duration.ofMillis(1),
            Duration.ofMillis(1),
            Duration.ofMillis(10));
    return CurvesBenchmark.run(new Context<>(folder, tiny, sizes, _ -> {}), List.of(contenders));
  }

  /* A store in this process. */
  private static CurveContender inProcess(String name) {
    return new StoaCurves(
        name,
        _ -> {
          var stoa = Stoa.open("memory:");
          return new StoaCurves.Numbered(stoa, stoa::close);
        });
  }

  @Test
  void drawsEachOperationOnSoManyObjectsBySoManyCallers() throws Exception {
    var absent =
        new StoaCurves(
            "absent",
            _ -> {
              throw new RemoteContender.Missing("it is not installed");
            });
    Outcome outcome = run(inProcess("ours"), inProcess("other"), absent);
    // Rates and two latencies: of each load, and of the limit.
    assertEquals(3 * (3 * 2 * 2 * 2 + 1), outcome.results().size());
    for (var words :
        List.of(
            "enq;deq on 3 objects, calls/s", "inc on 1 object, p50 in µs", "absent: it is not")) {
      assertTrue(outcome.table().contains(words), outcome::table);
    }
    assertEquals(
        Set.of(
            "curves-calls-1.svg",
            "curves-calls-3.svg",
            "curves-latency-1.svg",
            "curves-latency-3.svg"),
        outcome.figures().keySet());
    try (var left = Files.list(folder)) {
      assertEquals(0, left.count());
    }
  }

  @Test
  void refusesAContenderThatMiscounts() {
    var before =
        new StoaCurves(
            "counts more",
            _ -> {
              var stoa = Stoa.open("memory:");
              var all = new StoaCurves.Numbered(stoa, stoa::close);
              all.increment(7);
              return all;
            });
    var failure = assertThrows(IllegalStateException.class, () -> run(before));
    assertEquals("counts more: counter 7 is at 1 after 0 increments", failure.getMessage());
  }
}
