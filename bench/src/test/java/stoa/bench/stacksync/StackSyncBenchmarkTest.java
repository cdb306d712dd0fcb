package stoa.bench.stacksync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
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
import stoa.stacksync.ubuntuone.UbuntuOneGenerator;

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
            List.of(),
            List.of(50, 500),
            20,
            1,
            2);
    var contenders =
        List.of(
            new InProcess("embedded", Design.ITEMS_EMBEDDED),
            new InProcess("alone", Design.FACADE_ALONE),
            new InProcess("shared", Design.EVERYTHING_SHARED),
            new Absent());
    var context = new Context<>(folder, Scale.smoke(), sizes, _ -> {});
    var findings = StackSyncBenchmark.run(context, contenders, OpenTrace.generated(sizes));
    new CachePhase(context).measure(findings);
    Outcome outcome = findings.outcome();
    for (var expected :
        List.of(
            "alone, 2 callers, processor",
            "shared, 1 caller",
            "shared, p99",
            "absent: not installed",
            "all contenders gave the same",
            "room for 50 objects, reads of files",
            "room for 500 objects, in memory at the end")) {
      assertTrue(outcome.table().contains(expected), outcome::table);
    }
    assertEquals(Set.of("stacksync-latency.svg"), outcome.figures().keySet());
  }

  @Test
  void aTraceIsReplayedAtItsOwnTimesOrAtARate() throws Exception {
    var sizes = StackSyncScale.full(); // 20 seconds
    var file = folder.resolve("trace.csv");
    try (var to = Files.newBufferedWriter(file)) {
      new UbuntuOneGenerator(50, 100, 3, 5).trace().write(to);
    }
    var own = OpenTrace.read(file, 0, sizes).requests();
    var faster = OpenTrace.read(file, 30, sizes).requests();
    assertTrue(own.getLast().seconds() <= 20, own.getLast()::toString);
    assertTrue(faster.size() > 2 * own.size(), "all of the trace takes ten seconds at this rate");
    assertTrue(faster.getLast().seconds() < 12, faster.getLast()::toString);
    assertEquals(own.getFirst().change(), faster.getFirst().change());
    assertEquals(own.get(9).seconds() / 10, faster.get(9).seconds(), 0.2 * own.get(9).seconds());
  }

  @Test
  void aRequestIsTheSameBehindAQueue() {
    var load = new CommitLoad(StackSyncScale.smoke());
    var request = load.request(new SplittableRandom(7));
    assertEquals(request, CommitRequest.of(request.bytes()));
    assertEquals(20, request.changes().size());
  }

  @Test
  void aPipeGivesEachRequestOnceAndAnEndToEachThread() throws Exception {
    var sent = new ByteArrayOutputStream();
    try (var queue = new PipeQueue().start(folder)) {
      var requests = new ArrayList<byte[]>();
      for (byte i = 0; i < 7; i++) requests.add(new byte[] {i});
      queue.put(requests, 1, 2);
      queue.begin(0, sent);
      assertEquals(List.of(0, 1, 2, 3), frames(sent));
      for (int i = 0; i < 4; i++) queue.done(0);
      assertEquals(List.of(0, 1, 2, 3, 4, 5, 6, END), frames(sent));
      for (int i = 0; i < 3; i++) queue.done(0);
      assertEquals(List.of(0, 1, 2, 3, 4, 5, 6, END, END), frames(sent));
    }
  }

  private static final int END = -1;

  private static List<Integer> frames(ByteArrayOutputStream sent) throws IOException {
    var frames = new ArrayList<Integer>();
    var in = new DataInputStream(new ByteArrayInputStream(sent.toByteArray()));
    while (in.available() > 0) frames.add(in.readInt() == 0 ? END : (int) in.readByte());
    return frames;
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
