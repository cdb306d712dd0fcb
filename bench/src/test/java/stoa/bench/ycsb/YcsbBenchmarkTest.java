package stoa.bench.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.cluster.OpenStoa;
import stoa.bench.cluster.RecordWorkloads;
import stoa.bench.cluster.Records;
import stoa.bench.load.Scale;
import stoa.bench.place.StorePlace;
import stoa.bench.remote.RemoteContender;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;

class YcsbBenchmarkTest {
  private static final int RECORDS = 20;
  private static final int CHILDREN = 7;

  private static final YcsbScale.Snapshots SNAPSHOTS =
      new YcsbScale.Snapshots(
          1,
          RECORDS,
          2,
          List.of(1, 2),
          Duration.ofMillis(1),
          Duration.ofMillis(1),
          Duration.ofMillis(10));

  @TempDir Path folder;

  /// This engine in the process, as if a server had it.
  private static final YcsbContender EMBEDDED =
      new StoaYcsb(
          "Stoa, in the process", "lost", 1, CHILDREN, (_, _) -> OpenStoa.embedded("memory:"));

  private static YcsbScale.Sizes sizes(int records) {
    return sizes(records, Duration.ofMinutes(1));
  }

  private static YcsbScale.Sizes sizes(int records, Duration loadTimeMax) {
    return new YcsbScale.Sizes(
        1,
        records,
        CHILDREN,
        List.of(1, 3),
        Duration.ofMillis(1),
        Duration.ofMillis(1),
        Duration.ofMillis(10),
        loadTimeMax,
        YcsbContender.Forms.ALL,
        List.of());
  }

  private Findings run(int records, YcsbContender... contenders) throws Exception {
    return run(sizes(records), contenders);
  }

  private Findings run(YcsbScale.Sizes sizes, YcsbContender... contenders) throws Exception {
    var scale = new YcsbScale(sizes, SNAPSHOTS, sizes);
    var findings = new Findings(scale, YcsbScale.full());
    var tiny = new Scale(1, Duration.ofMillis(1), Duration.ofMillis(10));
    new YcsbRun(
            new Context<>(folder, tiny, scale, _ -> {}), sizes, new Checked(), List.of("A", "E"))
        .measure(findings, List.of(contenders));
    return findings;
  }

  @Test
  void measuresTheComposedMapBesideTheLogWithBackpointers() throws Exception {
    var outcome = run(RECORDS, EMBEDDED, new BackpointerYcsb(CHILDREN)).outcome();
    String table = outcome.table();
    for (String row :
        List.of(
            "YCSB A, 1 caller, Stoa, in the process",
            "YCSB E, 3 callers, backpointers",
            "loading, 240 callers, backpointers",
            "on the disk after it, backpointers")) {
      assertTrue(table.contains(row), table);
    }
    assertFalse(table.contains("at least 1"), table); // its log is in the process
    for (var result : outcome.results()) {
      assertTrue(Double.isFinite(result.value()), () -> "not measured: " + result);
    }
    try (var left = Files.walk(folder)) {
      assertEquals(0, left.filter(Files::isRegularFile).count());
    }
  }

  @Test
  void readsThePastOfTheComposedMapThroughViewsAndByPlayingItBack() throws Exception {
    var sizes = sizes(RECORDS);
    var scale = new YcsbScale(sizes, SNAPSHOTS, sizes);
    var findings = new Findings(scale, YcsbScale.full());
    var tiny = new Scale(1, Duration.ofMillis(1), Duration.ofMillis(10));
    new SnapshotsRun(new Context<>(folder, tiny, scale, _ -> {}), StorePlace.EMBEDDED)
        .measure(findings);
    var results = findings.outcome().results();
    assertEquals(2 * 4 * 2, results.size());
    for (var result : results) {
      assertTrue(result.value() > 0, () -> "nothing was done in " + result);
    }
  }

  @Test
  void leavesAMissingContenderOutAndSaysWhy() throws Exception {
    String table =
        run(RECORDS, EMBEDDED, new Failing(new RemoteContender.Missing("install it")))
            .outcome()
            .table();
    assertTrue(table.contains("left out\nanother one: install it\n"), table);
    assertFalse(table.contains("1 caller, another one"), table);
  }

  @Test
  void leavesAContenderOutWhoseLoadTakesTooLong() throws Exception {
    String table = run(sizes(RECORDS, Duration.ZERO), EMBEDDED).outcome().table();
    assertTrue(table.contains("left out\nStoa, in the process: loading Stoa"), table);
    assertTrue(table.contains("; the load may take 0 s\n"), table);
    assertFalse(table.contains("YCSB A"), table);
  }

  @Test
  void refusesADiskWithoutRoomBeforeItStartsAnything() {
    var started = new IllegalStateException("started");
    var refused =
        assertThrows(
            IllegalArgumentException.class, () -> run(Integer.MAX_VALUE, new Failing(started)));
    String message = String.valueOf(refused.getMessage());
    assertTrue(message.contains("another one may need"), message);
    assertTrue(message.contains("--data"), message);
  }

  /// A contender that cannot start.
  private record Failing(Exception why) implements YcsbContender {
    @Override
    public String name() {
      return "another one";
    }

    @Override
    public String guarantee() {
      return "none";
    }

    @Override
    public String scan() {
      return "none";
    }

    @Override
    public int copies() {
      return 1_000;
    }

    @Override
    public boolean isComparable() {
      return false;
    }

    @Override
    public Running start(Path place, List<String> heap) throws Exception {
      throw why;
    }
  }

  /// Workloads that check what they read: A updates a record and reads it, E scans.
  private static final class Checked implements RecordWorkloads {
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
      assertEquals(Updates.WHOLE_RECORD, updates);
      var loaded = new AtomicInteger();
      return new Prepared() {
        @Override
        public void load(Records to) throws Exception {
          to.insert("key%03d".formatted(loaded.getAndIncrement()), Map.of("a", new byte[] {1}));
        }

        @Override
        public void turn(int caller, Records of) throws Exception {
          if (scans(name)) {
            assertEquals(8, of.scan("key%03d".formatted(records - 8), 10));
            return;
          }
          of.update("key%03d".formatted(caller), Map.of("b", new byte[] {2}));
          assertEquals(Set.of("b"), of.read("key%03d".formatted(caller)).keySet());
        }
      };
    }
  }
}
