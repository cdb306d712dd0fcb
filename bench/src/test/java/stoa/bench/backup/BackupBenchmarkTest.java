package stoa.bench.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.load.Scale;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;

class BackupBenchmarkTest {
  @TempDir private Path folder;

  @Tag("long")
  @Test
  void measuresCallersAroundABackupAndRestoring() throws Exception {
    var tiny = new Scale(1, Duration.ofMillis(1), Duration.ofMillis(100));
    Outcome outcome =
        new BackupBenchmark().run(new Context<>(folder, tiny, new BackupScale(1), _ -> {}));
    assertEquals(8, outcome.results().size());
    outcome.results().forEach(result -> assertTrue(result.value() > 0, result::toString));
    assertTrue(outcome.table().contains("not judged"), outcome::table);
  }
}
