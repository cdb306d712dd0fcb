package stoa.bench.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.load.Scale;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;

class AccessFileTest {
  @TempDir Path folder;

  private static final List<String> LINES =
      List.of(
          "callers 3",
          "write linear 4k 10 in 16k   # goes round",
          "write at 0 100",
          "write at 64k 5",
          "reopen",
          "read random 1k 20 in 32k");

  @Test
  void aFileDescribesPhases() {
    var file = AccessFile.parse(LINES);
    assertEquals(3, file.callers());
    assertEquals(4, file.phases().size());
    assertEquals(8192, file.phases().getFirst().offsets()[6]);
    assertArrayEquals(new long[] {0, 65_536}, file.phases().get(1).offsets());
    assertEquals(105, file.phases().get(1).bytes());
    for (long offset : file.phases().get(3).offsets()) {
      assertTrue(offset % 2 == 1 && offset + 1024 <= 32_768, () -> "at " + offset);
    }
    assertEquals(StorageRun.OPERATIONS, AccessFile.parse(List.of("read at 1 1")).callers());
  }

  @Test
  void aWrongLineIsRefusedWithItsNumber() {
    for (String wrong :
        List.of("wrote at 0 1", "write at 0 5m", "write linear 4x 1", "write random 4k 1 in 5k")) {
      var lines = List.of("# none", wrong);
      var refusal =
          assertThrows(IllegalArgumentException.class, () -> AccessFile.parse(lines), wrong);
      assertTrue(String.valueOf(refusal.getMessage()).startsWith("line 2"), refusal::toString);
    }
    assertThrows(IllegalArgumentException.class, () -> AccessFile.parse(List.of()));
  }

  @Test
  void eachPhaseIsMeasuredForEachContender() throws Exception {
    var benchmark =
        new AccessFileBenchmark(
            AccessFile.parse(LINES), List.of(new PlainFiles(), new DeviceContender()));
    Outcome outcome =
        benchmark.run(
            new Context<>(
                folder,
                new Scale(1, Duration.ZERO, Duration.ofMillis(1)),
                StorageScale.smoke(),
                _ -> {}));
    assertEquals(3 * 2, outcome.results().size());
    assertTrue(outcome.results().stream().allMatch(result -> result.value() > 0));
  }
}
