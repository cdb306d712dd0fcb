package stoa.bench.indexes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.load.Scale;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;

class IndexesBenchmarkTest {
  @TempDir private Path folder;

  @Test
  void measuresQueriesBesideCallsAndWritersWithIndexesBesideOthers() throws Exception {
    var tiny = new Scale(1, Duration.ofMillis(1), Duration.ofMillis(1));
    Outcome outcome =
        new IndexesBenchmark()
            .run(new Context<>(folder, tiny, new IndexesScale(600, 200, 10), _ -> {}));
    assertEquals(10, outcome.results().size());
    assertTrue(outcome.table().contains("finds/s"), outcome::table);
  }
}
