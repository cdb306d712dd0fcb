package stoa.bench.watching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.load.Scale;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;

class WatchingBenchmarkTest {
  @TempDir private Path folder;

  @Test
  void measuresCallersOfAWatchedServerBesideOthers() throws Exception {
    var tiny = new Scale(1, Duration.ofMillis(1), Duration.ofMillis(300));
    Outcome outcome =
        new WatchingBenchmark().run(new Context<>(folder, tiny, WatchingScale.smoke(), _ -> {}));
    assertEquals(4, outcome.results().size());
    outcome.results().forEach(result -> assertTrue(result.value() > 0, result::toString));
    assertTrue(outcome.table().contains("not judged"), outcome::table);
  }
}
