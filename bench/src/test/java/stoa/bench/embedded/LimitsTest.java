package stoa.bench.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.load.Load;
import stoa.bench.load.Samples;
import stoa.bench.load.Scale;
import stoa.bench.machine.DiskLimits;
import stoa.bench.machine.GroupCommit;
import stoa.bench.report.Context;

class LimitsTest {
  private static final Scale TINY = new Scale(1, Duration.ofMillis(5), Duration.ofMillis(100));

  @TempDir Path folder;

  @Test
  void measuresEveryLimitAndLeavesNoFile() throws Exception {
    var context = new Context<>(folder, TINY, EmbeddedScale.smoke(), _ -> {});
    var samples = Samples.interleaved(1, EmbeddedBenchmark.limits(context), context.progress());
    for (String limit : EmbeddedBenchmark.limits(context).keySet()) {
      assertTrue(samples.median(limit) > 0, limit);
    }
    try (var left = Files.list(folder)) {
      assertEquals(0, left.count());
    }
  }

  @Test
  void aGroupCommitWritesOneRecordPerCall() throws Exception {
    var calls = new AtomicInteger();
    Path file = folder.resolve("log");
    try (var log = new GroupCommit(file)) {
      new Load(24, Load.Threads.VIRTUAL, TINY)
          .run((_, _) -> {
            log.append();
            calls.incrementAndGet();
          });
    }
    assertEquals((long) calls.get() * GroupCommit.RECORD_BYTES, Files.size(file));
  }

  @Test
  void aClosedGroupCommitRefusesCallers() throws IOException {
    var log = new GroupCommit(folder.resolve("log"));
    log.close();
    assertThrows(IllegalStateException.class, log::append);
  }

  @Test
  void everyCallerMakesACallThatCounts() throws Exception {
    var calls = new AtomicInteger();
    var seen =
        new Load(8, Load.Threads.VIRTUAL, Duration.ZERO, Duration.ofNanos(1))
            .run((_, _) -> calls.incrementAndGet());
    assertEquals(8, calls.get());
    assertTrue(seen.callsPerSecond() > 0);
  }

  @Test
  void aLoadReportsACallerThatFailed() {
    var load = new Load(2, Load.Threads.PLATFORM, TINY);
    var thrown =
        assertThrows(
            IllegalStateException.class,
            () ->
                load.run((_, _) -> {
                  throw new IOException("no disk");
                }));
    assertTrue(String.valueOf(thrown.getMessage()).contains("no disk"));
  }

  @Test
  void readsEveryByteOnce() throws IOException {
    Files.write(folder.resolve("a"), new byte[1000]);
    Files.createDirectory(folder.resolve("b"));
    Files.write(folder.resolve("b/c"), new byte[24]);
    assertEquals(1024, DiskLimits.bytes(folder));
    assertTrue(DiskLimits.readAll(folder) > 0);
  }
}
