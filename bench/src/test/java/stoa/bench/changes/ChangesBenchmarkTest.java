package stoa.bench.changes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.load.Scale;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;

class ChangesBenchmarkTest {
  @TempDir private Path folder;

  @Test
  void measuresASubscriberBesideWriters() throws Exception {
    var tiny = new Scale(1, Duration.ofMillis(1), Duration.ofMillis(20));
    Outcome outcome =
        new ChangesBenchmark()
            .run(new Context<>(folder, tiny, new ChangesScale(2, 400, 10), _ -> {}));
    assertEquals(8, outcome.results().size());
    assertTrue(outcome.table().contains("changes/s"), outcome::table);
  }
}
