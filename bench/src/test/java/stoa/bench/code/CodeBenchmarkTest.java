package stoa.bench.code;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.load.Scale;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;

class CodeBenchmarkTest {
  @TempDir private Path folder;

  @Test
  void measuresCallsBehindVersionsAndAroundDeployments() throws Exception {
    var tiny = new Scale(1, Duration.ofMillis(1), Duration.ofMillis(10));
    Outcome outcome =
        new CodeBenchmark().run(new Context<>(folder, tiny, new CodeScale(3, 200), _ -> {}));
    assertEquals(9, outcome.results().size());
    outcome.results().forEach(result -> assertTrue(result.value() > 0, result::toString));
    assertTrue(outcome.table().contains("not judged"), outcome::table);
  }
}
