package stoa.bench.stacksync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Stoa;
import stoa.bench.load.OpenLoop;
import stoa.bench.load.Scale;
import stoa.bench.remote.RemoteContender;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;
import stoa.stacksync.Design;
import stoa.stacksync.Services;
import stoa.stacksync.SyncService;

class StackSyncBenchmarkTest {
  @TempDir private Path folder;

  /// A store in this process, as if a server had it.
  private record InProcess(String name, Design design) implements StackSyncContender {
    @Override
    public String durability() {
      return "lost";
    }

    @Override
    public Running start(Path place) {
      var stoa = Stoa.open("memory:");
      return new Running() {
        @Override
        public SyncService service(int caller) {
          return Services.open(stoa, caller, design);
        }

        @Override
        public Duration processorTime() {
          return Duration.ZERO;
        }

        @Override
        public void close() {
          stoa.close();
        }
      };
    }
  }

  /// A contender that is not on this machine.
  private static final class Absent implements StackSyncContender {
    @Override
    public String name() {
      return "absent";
    }

    @Override
    public String durability() {
      return "kept";
    }

    @Override
    public Running start(Path place) throws RemoteContender.Missing {
      throw new RemoteContender.Missing("not installed");
    }
  }

  @Test
  void everyDesignAnswersTheSameAndIsMeasured() throws Exception {
    var sizes =
        new StackSyncScale(
            5,
            3,
            1,
            List.of(1, 2),
            1,
            Duration.ofMillis(1),
            Duration.ofMillis(1),
            Duration.ofMillis(5),
            100,
            Duration.ofMillis(100),
            200,
            false,
            List.of());
    var contenders =
        List.of(
            new InProcess("embedded", Design.ITEMS_EMBEDDED),
            new InProcess("alone", Design.FACADE_ALONE),
            new InProcess("shared", Design.EVERYTHING_SHARED),
            new Absent());
    Outcome outcome =
        StackSyncBenchmark.run(new Context<>(folder, Scale.smoke(), sizes, _ -> {}), contenders);
    for (var expected :
        List.of(
            "alone, 2 callers, processor",
            "shared, 1 caller",
            "shared, p99",
            "absent: not installed",
            "all contenders gave the same")) {
      assertTrue(outcome.table().contains(expected), outcome::table);
    }
    assertEquals(Set.of("stacksync-latency.svg"), outcome.figures().keySet());
  }

  @Test
  void aLatencyCountsFromWhenTheRequestWasDue() throws Exception {
    long second = 1_000_000_000;
    var latencies = OpenLoop.run(List.of(List.of(-2 * second, -second, 0L)), (_, _) -> {});
    assertEquals(3, latencies.size());
    assertTrue(latencies.get(1) >= second, latencies::toString);
    assertTrue(latencies.getLast() >= 2 * second, latencies::toString);
    assertThrows(
        IllegalStateException.class,
        () ->
            OpenLoop.run(
                List.of(List.of(0L)),
                (_, _) -> {
                  throw new IllegalStateException("refused");
                }));
  }
}
