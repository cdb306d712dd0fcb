package stoa.bench.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Stoa;
import stoa.bench.load.Scale;
import stoa.bench.report.Context;
import stoa.bench.report.Markdown;
import stoa.bench.report.Outcome;
import stoa.bench.report.Result;

class ClusterBenchmarkTest {
  private static final Duration SHORT = Duration.ofMillis(5);

  @TempDir Path folder;

  /// Counters in this process, some of whose increments are forgotten.
  private static final class Local implements ClusterContender.Counters {
    private final AtomicLongArray counters = new AtomicLongArray(ClusterLoad.COUNTERS_MAX);
    private final boolean forgets;
    private volatile CountDownLatch open = new CountDownLatch(0);

    Local(boolean forgets) {
      this.forgets = forgets;
    }

    @Override
    public long increment(int counter) throws InterruptedException {
      open.await();
      return forgets ? 1 : counters.incrementAndGet(counter);
    }

    @Override
    public long value(int counter) {
      return counters.get(counter);
    }
  }

  /// A contender in this process.
  private record Here(String name, Local local, Records kept) implements ClusterContender {
    @Override
    public String guarantee() {
      return "in this process";
    }

    @Override
    public ClusterContender.Running start(Path place, int servers) {
      return new ClusterContender.Running() {
        @Override
        public Duration processorTime() {
          return Duration.ZERO;
        }

        @Override
        public Map<String, Counters> counters() {
          return Map.of(name, local);
        }

        @Override
        public Optional<Records> records() {
          return Optional.of(kept);
        }

        @Override
        public Optional<Records> orderedRecords() {
          return Optional.of(kept);
        }

        @Override
        public void close() {}
      };
    }
  }

  private static final class Sorted implements Records {
    private final ConcurrentSkipListMap<String, Map<String, byte[]>> all =
        new ConcurrentSkipListMap<>();

    @Override
    public void insert(String key, Map<String, byte[]> fields) {
      all.put(key, fields);
    }

    @Override
    public Map<String, byte[]> read(String key) {
      return all.getOrDefault(key, Map.of());
    }

    @Override
    public void update(String key, Map<String, byte[]> fields) {
      all.put(key, fields);
    }

    @Override
    public int scan(String from, int most) {
      return (int) all.tailMap(from).values().stream().limit(most).count();
    }
  }

  /// Two workloads, of which one scans.
  private static final class Both implements RecordWorkloads {
    @Override
    public List<String> names() {
      return List.of("A", "E");
    }

    @Override
    public boolean scans(String name) {
      return name.equals("E");
    }

    @Override
    public Prepared prepare(String name, int records, int callers, Updates updates) {
      return new Prepared() {
        @Override
        public void load(Records to) throws Exception {
          to.insert("key", Map.of("field", new byte[1]));
        }

        @Override
        public void turn(int caller, Records from) throws Exception {
          if (scans(name)) assertEquals(1, from.scan("k", 9));
          else assertEquals(1, from.read("key").size());
        }
      };
    }
  }

  /// Servers in this process, which go on when the benchmark disturbs them.
  private static final class Undisturbed implements ClusterServers {
    private int starts;
    private int open;

    @Override
    public boolean canPart() {
      return false;
    }

    @Override
    public ClusterServers.Running start(Path place, Shape shape) {
      starts++;
      open++;
      return new Three();
    }

    private final class Three implements ClusterServers.Running {
      private final Local local = new Local(false);

      private static UnsupportedOperationException none() {
        return new UnsupportedOperationException("these servers are no processes");
      }

      @Override
      public ClusterContender.Counters counters() {
        return local;
      }

      @Override
      public ClusterContender.Counters streams() {
        return local;
      }

      @Override
      public Stoa stoa() {
        throw none();
      }

      @Override
      public void keep(String key, byte[] bytes) {
        throw none();
      }

      @Override
      public List<Integer> running() {
        return List.of(0, 1, 2);
      }

      @Override
      public int leader() {
        return 0;
      }

      @Override
      public void settle() {}

      @Override
      public void kill(int server) {}

      @Override
      public void pause(int server) {}

      @Override
      public void resume(int server) {}

      @Override
      public void stop(int server) {}

      @Override
      public void startAgain(int server) {}

      @Override
      public int add() {
        throw none();
      }

      @Override
      public void drain(int server) {
        throw none();
      }

      @Override
      public void cut(int server) {
        throw none();
      }

      @Override
      public void heal(int server) {
        throw none();
      }

      @Override
      public Path directory(int server) {
        throw none();
      }

      @Override
      public Sent sent(int server) {
        throw none();
      }

      @Override
      public long processorNanos(int server) {
        throw none();
      }

      @Override
      public void close() {
        open--;
      }
    }
  }

  /// Runs the phase of failures; returns how often it started servers.
  private int starts(boolean shared) throws Exception {
    var sizes =
        new ClusterScale(
            1, shared, 3, 4, true, SHORT, SHORT, SHORT, SHORT, 3, 2, 1, 1, SHORT, 1, 2);
    var context = new Context<>(folder, new Scale(1, SHORT, SHORT), sizes, _ -> {});
    var report = new ClusterReport(sizes);
    var servers = new Undisturbed();
    try (var neighbours = new Neighbours();
        var phases = new PhaseServers(context, servers)) {
      new SilencePhase(context, report, neighbours).measure(phases);
    }
    assertEquals(0, servers.open);
    assertTrue(report.samples().has(SilencePhase.middle("the leader paused (SIGSTOP)")));
    assertTrue(report.samples().has(SilencePhase.middle("3 groups: the coordinator killed (-9)")));
    try (var left = Files.list(folder)) {
      assertEquals(0, left.count());
    }
    return servers.starts;
  }

  @Test
  void phasesHaveServersOfTheirOwnUnlessTheyShareThem() throws Exception {
    assertEquals(2, starts(false));
    assertEquals(1, starts(true));
  }

  private ClusterReport measured(Local... all) throws Exception {
    var tiny =
        new ClusterScale(1, false, 3, 4, true, SHORT, SHORT, SHORT, SHORT, 3, 1, 1, 1, SHORT, 1, 2);
    var scale = new Scale(1, SHORT, SHORT);
    var context =
        new Context<>(Files.createDirectories(folder.resolve("run")), scale, tiny, _ -> {});
    var report = new ClusterReport(tiny);
    try (var neighbours = new Neighbours()) {
      var contenders = new java.util.ArrayList<ClusterContender>();
      for (Local local : all) {
        contenders.add(new Here("number " + contenders.size(), local, new Sorted()));
      }
      new ClusterRun(context, report, neighbours).measure(contenders, List.of(new Both()));
      new GrowthPhase(context, report, neighbours).measure();
    }
    return report;
  }

  @Test
  void measuresEveryLoadOfEveryContender() throws Exception {
    Outcome outcome = measured(new Local(false), new Local(false)).outcome();
    var measures = outcome.results().stream().map(Result::measure).collect(Collectors.toSet());
    for (ClusterLoad load : ClusterLoad.ALL) {
      for (String name : List.of("number 0", "number 1")) {
        assertTrue(measures.contains(ClusterRun.name(load, name)), load + " in " + measures);
      }
    }
    assertTrue(measures.contains(ClusterRun.workload("E", "number 1")), measures::toString);
    assertTrue(outcome.table().contains("| E "), outcome.table());
    assertTrue(outcome.table().contains("others used"), outcome.table());
    assertEquals(Set.of("cluster-calls.svg"), outcome.figures().keySet());
  }

  @Test
  void reportsOnlyThePartsThatRan() throws Exception {
    var tiny =
        new ClusterScale(1, false, 3, 4, true, SHORT, SHORT, SHORT, SHORT, 3, 1, 1, 1, SHORT, 1, 2);
    var context = new Context<>(folder, new Scale(1, SHORT, SHORT), tiny, _ -> {});
    var report = new ClusterReport(tiny);
    try (var neighbours = new Neighbours()) {
      new GrowthPhase(context, report, neighbours).measure();
    }
    String table = report.outcome().table();
    assertTrue(table.startsWith("**As there are more groups"), table);
    assertEquals(Set.of(), report.outcome().figures().keySet());
  }

  @Test
  void refusesFiguresOfAContenderThatForgets() {
    var failure = assertThrows(IllegalStateException.class, () -> measured(new Local(true)));
    assertTrue(failure.toString().contains("counter 0 is at 0"), failure::toString);
  }

  @Test
  void seesForHowLongCallersAreNotAnswered() throws Exception {
    var counters = new Local(false);
    try (var callers = new Watched(counters, 3)) {
      callers.await(Duration.ZERO);
      callers.begin();
      counters.open = new CountDownLatch(1);
      while (callers.silences()[0] < 30) Thread.onSpinWait();
      counters.open.countDown();
      callers.await(Duration.ZERO);
      assertTrue(callers.silences()[0] >= 30);
      assertTrue(callers.seen().longestMillis() >= 30);
      callers.verify();
    }
  }

  @Test
  void findsIncrementsThatWereAnsweredAndNotMade() throws Exception {
    try (var callers = new Watched(new Local(true), 2)) {
      callers.await(Duration.ZERO);
      assertThrows(IllegalStateException.class, callers::verify);
    }
  }

  @Test
  void comparesTheIncrementsOfItsOwnCallersAlone() throws Exception {
    var counters = new Local(false);
    for (int i = 0; i < 5; i++) counters.increment(0);
    try (var callers = new Watched(counters, 2)) {
      callers.await(Duration.ZERO);
      callers.verify();
    }
  }

  @Test
  void countsIncrementsAndReadsInSlices() throws Exception {
    var counters = new Local(false);
    try (var writers = new Watched(counters, 1);
        var readers = Watched.reading(counters, 1)) {
      var calls = new Timeline(writers, readers);
      while (calls.chart(0).panels().getFirst().series().getLast().points().size() < 2) {
        calls.await(Duration.ofMillis(10));
        if (counters.open.getCount() == 0) counters.open = new CountDownLatch(1);
      }
      var series = calls.chart(0).panels().getFirst().series();
      // The writer was held, the reader was not.
      assertEquals(0, series.getFirst().points().getLast().median());
      assertTrue(series.getLast().points().getLast().median() > 0);
      counters.open.countDown();
      writers.await(Duration.ZERO);
      writers.verify();
    }
  }

  @Test
  void alignsTablesInMarkdown() {
    String table =
        Markdown.table(
            "T", List.of(List.of("", "calls"), List.of("a row", "7"), List.of("b", "12345")));
    assertEquals(
        """
        **T**

        |       | calls |
        |-------|------:|
        | a row |     7 |
        | b     | 12345 |

        """,
        table);
  }
}
