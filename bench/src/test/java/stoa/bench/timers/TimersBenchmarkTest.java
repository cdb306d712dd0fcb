package stoa.bench.timers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.load.Scale;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;

class TimersBenchmarkTest {
  @TempDir private Path folder;

  @Test
  void measuresTimersBesideCallsOfPrograms() throws Exception {
    var tiny = new Scale(1, Duration.ofMillis(1), Duration.ofMillis(1));
    Outcome outcome =
        new TimersBenchmark().run(new Context<>(folder, tiny, new TimersScale(400, 10), _ -> {}));
    assertEquals(4, outcome.results().size());
    assertTrue(outcome.table().contains("timers/s"), outcome::table);
  }
}
